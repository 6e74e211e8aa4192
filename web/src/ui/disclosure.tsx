// What folds away and what lies behind tabs.
import type { ComponentChildren, VNode } from 'preact';
import { useId } from 'preact/hooks';

export interface DisclosureProps {
  readonly summary: ComponentChildren;
  readonly children?: ComponentChildren;
  readonly isOpen?: boolean | undefined;
  readonly onToggle?: ((isOpen: boolean) => void) | undefined;
}

/** Folded until it is opened. */
export function Disclosure({ summary, children, isOpen, onToggle }: DisclosureProps) {
  return (
    <details class="disclosure" open={isOpen} onToggle={(event) => onToggle?.(event.currentTarget.open)}>
      <summary>{summary}</summary>
      <div class="disclosure-content">{children}</div>
    </details>
  );
}

/** One tab. */
export interface Tab {
  readonly id: string;
  readonly label: string;
  readonly content: () => VNode;
}

export interface TabsProps {
  readonly label: string;
  readonly tabs: readonly Tab[];
  readonly selected: string;
  readonly onSelect: (id: string) => void;
}

/** Tabs as the ARIA practices have them: arrows move, the chosen one alone is in the order of tabs. */
export function Tabs({ label, tabs, selected, onSelect }: TabsProps) {
  const prefix = useId();
  const index = Math.max(
    0,
    tabs.findIndex(({ id }) => id === selected),
  );
  const move = (event: KeyboardEvent) => {
    const steps: Readonly<Record<string, number>> = {
      ArrowRight: 1,
      ArrowLeft: -1,
      Home: -index,
      End: tabs.length - 1 - index,
    };
    const step = steps[event.key];
    const next = step === undefined ? undefined : tabs[(index + step + tabs.length) % tabs.length];
    if (next === undefined) return;
    event.preventDefault();
    onSelect(next.id);
    document.getElementById(`${prefix}-tab-${next.id}`)?.focus();
  };
  const current = tabs[index];
  return (
    <div class="tabs">
      <div class="tab-list" role="tablist" aria-label={label} onKeyDown={move}>
        {tabs.map((tab, i) => (
          <button
            key={tab.id}
            id={`${prefix}-tab-${tab.id}`}
            class="tab"
            type="button"
            role="tab"
            aria-selected={i === index}
            aria-controls={`${prefix}-panel`}
            tabIndex={i === index ? 0 : -1}
            onClick={() => onSelect(tab.id)}
          >
            {tab.label}
          </button>
        ))}
      </div>
      {current && (
        <div class="tab-panel" id={`${prefix}-panel`} role="tabpanel" aria-labelledby={`${prefix}-tab-${current.id}`}>
          {current.content()}
        </div>
      )}
    </div>
  );
}
