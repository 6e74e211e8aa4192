// A plan and its cost in wire words.
import type { Plan } from '../../engine/index.js';
import type { PlannedRequest } from '../../engine/planner/planner.js';
import type { PlanReply } from '../../protocol/index.js';
import type { ForecastSeconds } from './forecast.js';

/** What lies beside a plan. */
export interface PlanTimes {
  readonly forecast: ForecastSeconds | null;
  readonly queueSeconds: number | null;
  /** Bytes that jobs may take; null while the device has not told. */
  readonly availableBytes: number | null;
}

/** The reply of the plan door. */
export function viewPlan(planned: PlannedRequest, { forecast, queueSeconds, availableBytes }: PlanTimes): PlanReply {
  const { plan, estimate, warnings, hash } = planned;
  const { tokens, chunks, passes, flops, memoryBytes } = estimate;
  const total = Object.values(tokens).reduce((sum, count) => sum + count, 0) - tokens.negativeText;
  return {
    object: 'plan',
    task: plan.task,
    ...plan.content,
    canvas_width: plan.canvas.width,
    canvas_height: plan.canvas.height,
    num_frames: plan.frames,
    fps: plan.fps,
    duration_s: Math.round((plan.frames / plan.fps) * 1000) / 1000,
    num_inference_steps: plan.steps,
    guidance_scale: plan.guidance.scale,
    flow_shift: plan.schedule.solver === 'unipc' ? plan.schedule.flowShift : null,
    seed: plan.seed,
    ...viewParts(plan, chunks),
    prompt: { tokens: plan.prompt.tokens.length, truncated: plan.prompt.truncated },
    tokens: {
      text: tokens.text,
      negative_text: tokens.negativeText,
      vision: tokens.vision,
      controls: tokens.controls,
      sound: tokens.sound,
      action: tokens.action,
      total,
    },
    chunks,
    passes,
    flops: flops.total,
    memory_bytes: memoryBytes,
    memory_available_bytes: availableBytes,
    seconds: forecast === null ? null : Math.round(forecast.seconds * 1000) / 1000,
    seconds_basis: forecast?.basis ?? null,
    queue_seconds: queueSeconds === null ? null : Math.round(queueSeconds * 1000) / 1000,
    inputs: plan.inputs.map(({ role, width, height, frames }) => ({ role, width, height, frames })),
    warnings: warnings.map(({ param, message }) => ({ param, message })),
    hash,
  };
}

function viewParts(
  { sound, action, transfer, frames, fps }: Plan,
  chunks: number,
): Pick<PlanReply, 'sound' | 'action' | 'transfer'> {
  return {
    sound: sound === null ? null : { duration_s: frames / fps, samples: sound.samples },
    action:
      action === null
        ? null
        : { mode: action.mode, domain_id: action.domain, rows: action.rows, raw_action_dim: action.rawDim },
    transfer:
      transfer === null
        ? null
        : { hints: transfer.hints.map(({ kind }) => kind), chunks, chunk_frames: transfer.chunkFrames },
  };
}
