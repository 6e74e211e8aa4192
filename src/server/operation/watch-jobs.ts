// Numbers, spans and a log line for each job that ends.
import type { ServerContext } from '../server-context.js';
import type { Logger } from './logging.js';

/** Watches until the returned function is called. */
export function watchJobs(context: Pick<ServerContext, 'queue' | 'metrics' | 'tracing'>, log: Logger): () => void {
  const { queue, metrics, tracing } = context;
  return queue.subscribe(({ id, change }) => {
    if (change !== 'completed' && change !== 'failed' && change !== 'cancelled') return;
    void queue.get(id).then((record) => {
      if (record === null) return;
      metrics.ended(record);
      tracing.job(record);
      // The prompt passed at the door: what was blocked later were the frames.
      if (record.error?.code === 'prompt_blocked')
        metrics.judged({ checker: 'frames', subject: 'frames', outcome: 'blocked', category: null, seconds: 0 });
      const { kind, requestId, status, timings, error, attempts } = record;
      const line = {
        job: id,
        kind,
        request_id: requestId,
        status,
        seconds: timings?.total,
        attempts,
        error: error?.code,
      };
      if (status === 'failed') log.error({ ...line, message: error?.message, crashes: error?.crashes }, 'job failed');
      else log.info(line, 'job ended');
    });
  });
}
