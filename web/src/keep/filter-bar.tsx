// What the gallery is searched by, as a form.
import { useEffect, useRef, useState } from 'preact/hooks';
import { useStore } from '../store/store-context.js';
import { t, tMaybe } from '../texts/t.js';
import { Button, Select, Switch, TextField } from '../ui/index.js';
import { type GalleryFilter, noFilter } from './gallery-filter.js';

export interface FilterBarProps {
  readonly filter: GalleryFilter;
  readonly onChange: (filter: GalleryFilter) => void;
}

const statuses = ['completed', 'in_progress', 'queued', 'failed', 'cancelled'] as const;

/** Pause after the last key before the server is asked. */
const typingMs = 250;

/** The form. What is typed takes effect after a short pause, what is chosen at once. */
export function FilterBar({ filter, onChange }: FilterBarProps) {
  const { model } = useStore();
  const served = model.value?.tasks.map(({ task }) => task) ?? [];
  const tasks = filter.task === '' || served.includes(filter.task) ? served : [...served, filter.task];
  const isAsking = JSON.stringify(filter) !== JSON.stringify(noFilter);
  return (
    <search class="keep-filter">
      <Words words={filter.words} onChange={(words) => onChange({ ...filter, words })} />
      <Select
        label={t('keep.task')}
        value={filter.task}
        options={[
          { value: '', label: t('keep.anyTask') },
          ...tasks.map((task) => ({ value: task, label: tMaybe(`task.${task}`) ?? task })),
        ]}
        onChange={(task) => onChange({ ...filter, task })}
      />
      <Select
        label={t('keep.status')}
        value={filter.status}
        options={[
          { value: '', label: t('keep.anyStatus') },
          ...statuses.map((status) => ({ value: status, label: t(`status.${status}`) })),
        ]}
        onChange={(status) => onChange({ ...filter, status })}
      />
      <TextField
        type="date"
        label={t('keep.from')}
        value={filter.from}
        onInput={(from) => onChange({ ...filter, from })}
      />
      <TextField type="date" label={t('keep.to')} value={filter.to} onInput={(to) => onChange({ ...filter, to })} />
      <div class="row keep-switches">
        <Switch
          label={t('keep.favourites')}
          isOn={filter.favourites}
          onChange={(favourites) => onChange({ ...filter, favourites })}
        />
        {isAsking && (
          <Button kind="quiet" icon="close" onClick={() => onChange(noFilter)}>
            {t('keep.clear')}
          </Button>
        )}
      </div>
    </search>
  );
}

function Words({ words, onChange }: { readonly words: string; readonly onChange: (words: string) => void }) {
  const [text, setText] = useState(words);
  const told = useRef(words);
  const latest = useRef(onChange);
  latest.current = onChange;
  // The address has changed by another hand: back, or a link.
  useEffect(() => {
    if (words === told.current) return;
    told.current = words;
    setText(words);
  }, [words]);
  useEffect(() => {
    if (text === told.current) return;
    const timer = setTimeout(() => {
      told.current = text;
      latest.current(text);
    }, typingMs);
    return () => clearTimeout(timer);
  }, [text]);
  return (
    <div class="keep-words">
      <TextField
        type="search"
        label={t('keep.words')}
        value={text}
        onInput={setText}
        placeholder={t('keep.wordsHint')}
      />
    </div>
  );
}
