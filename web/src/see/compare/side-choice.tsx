// Which two results are compared.
import { useEffect, useState } from 'preact/hooks';
import type { Job } from '../../../../src/protocol/index.js';
import { goTo } from '../../app/router.js';
import { useStore } from '../../store/store-context.js';
import { formatDate } from '../../texts/format.js';
import { t } from '../../texts/t.js';
import { Button, Select } from '../../ui/index.js';

export interface SideChoiceProps {
  readonly first: string;
  readonly second: string;
  /** Jobs that are chosen: they may be older than those on offer. */
  readonly chosen: readonly Job[];
}

const offered = 100;

/** Two lists of results, and a button that changes sides. */
export function SideChoice({ first, second, chosen }: SideChoiceProps) {
  const { client, toasts } = useStore();
  const [found, setFound] = useState<readonly Job[]>([]);
  useEffect(() => {
    const abort = new AbortController();
    client.jobs({ status: 'completed', limit: offered }, abort.signal).then(
      ({ data }) => {
        if (!abort.signal.aborted) setFound(data);
      },
      (error: unknown) => {
        if (!abort.signal.aborted) toasts.error(error);
      },
    );
    return () => abort.abort();
  }, [client, toasts]);
  const listed = new Set(found.map(({ id }) => id));
  const jobs = [...chosen.filter(({ id }) => !listed.has(id)), ...found];
  const options = (value: string) => [
    ...(value === '' ? [{ value: '', label: t('see.choose') }] : []),
    ...jobs.map((job) => ({
      value: job.id,
      label: t('see.choice', { prompt: cut(job.prompt), made: formatDate(job.created_at) }),
    })),
  ];
  const choose = (a: string, b: string) => goTo({ name: 'compare', ids: [a, b].filter((id) => id !== '') }, true);
  return (
    <div class="see-choice">
      <Select label={t('see.first')} value={first} options={options(first)} onChange={(id) => choose(id, second)} />
      <Select label={t('see.second')} value={second} options={options(second)} onChange={(id) => choose(first, id)} />
      <Button
        kind="quiet"
        icon="compare"
        disabled={first === '' || second === ''}
        onClick={() => choose(second, first)}
      >
        {t('see.swap')}
      </Button>
    </div>
  );
}

function cut(text: string): string {
  return text.length > 60 ? `${text.slice(0, 59)}…` : text;
}
