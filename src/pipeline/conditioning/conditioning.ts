// From a plan to what the denoise loop takes: targets with their clean parts, and one branch per text pass. Tasks differ
// only in which segments stand in the sequence and which frames are clean.
import { allOrNothing, type Backend, type Own, type Tensor, uploadFloats } from '../../backend/index.js';
import {
  type ActionProjection,
  type GenSegment,
  groupRoutes,
  type Positions,
  readActionProjection,
  ropeTables,
} from '../../models/cosmos3-transformer/index.js';
import type { Branch, Conditions } from '../denoise/conditions.js';
import { type BranchName, neededBranches } from '../denoise/guidance.js';
import { type Target, targetWithCleanFrames } from '../denoise/targets.js';
import type { Networks } from '../networks.js';
import type { Plan } from '../plan-types.js';
import { actionTarget } from './action-target.js';
import { type ItemLayout, itemRows, jointRoutes, noisyRows, sequencePositions, weightedRoutes } from './sequence.js';
import type { BranchTexts } from './text.js';
import { type HostLatents, latentSize } from './vision-source.js';

/** What one run of the denoise loop is conditioned on, encoded. */
export interface ChunkConditions {
  /** Latent frames the run makes. */
  readonly latentFrames: number;
  /** Given latents of the target's front, and which of its frames they fix. */
  readonly clean: { readonly latents: HostLatents; readonly frames: readonly number[] } | null;
  /** Control latents, in the plan's order. */
  readonly controls: readonly HostLatents[];
}

/** Device data of one run; dispose of it after the loop. */
export interface Conditioning extends Disposable, Conditions {
  /** Positions of each branch's rows, the text apart. */
  readonly positions: ReadonlyMap<BranchName, Positions>;
}

/** Lays out the targets of a run: vision always, then sound, then action, as the plan has them. */
export function planTargets(plan: Plan, { transformer, vae }: Networks, conditions: ChunkConditions): Target[] {
  const { config } = transformer;
  const { width, height } = latentSize(plan.content, vae.config.spatialFactor);
  const vision: ItemLayout = {
    kind: 'vision',
    shape: [conditions.latentFrames, height, width, config.latentChannels],
    fps: plan.fps,
  };
  const { clean } = conditions;
  const targets = [targetWithCleanFrames(vision, clean?.latents.data ?? null, clean?.frames ?? [])];
  if (plan.sound) {
    const sound: ItemLayout = { kind: 'sound', shape: [plan.sound.latentFrames, config.sound?.channels ?? 0] };
    targets.push(targetWithCleanFrames(sound, null, []));
  }
  if (plan.action) targets.push(actionTarget(plan.action, config.action?.dim ?? 0));
  return targets;
}

/** Uploads controls, positions and masks, and binds them to the text caches; all of them, or nothing stays. */
export function buildConditioning(
  networks: Networks,
  plan: Plan,
  conditions: ChunkConditions,
  texts: BranchTexts,
  timesteps: Float32Array,
): Conditioning {
  const { result, owned } = allOrNothing(networks.backend, (own) =>
    layOut(networks, { plan, conditions, texts, timesteps }, own),
  );
  let holdsData = true;
  return {
    ...result,
    handOver() {
      holdsData = false;
      return owned;
    },
    [Symbol.dispose]() {
      if (holdsData) owned[Symbol.dispose]();
    },
  };
}

interface Given {
  readonly plan: Plan;
  readonly conditions: ChunkConditions;
  readonly texts: BranchTexts;
  readonly timesteps: Float32Array;
}

function layOut(
  networks: Networks,
  { plan, conditions, texts, timesteps }: Given,
  own: Own,
): Omit<Conditioning, 'handOver' | typeof Symbol.dispose> {
  const { backend: b, transformer } = networks;
  const targets = planTargets(plan, networks, conditions);
  const { config } = transformer;
  const { patch } = config;
  const noisy = targets.map((target) => own(uploadRows(b, noisyRows(target.item, patch, target.cleanFrames))));
  const projection = plan.action && own(readActionProjection(b, transformer, plan.action.domain));
  const controls = conditions.controls.map((latents): GenSegment & { item: ItemLayout } => {
    const item: ItemLayout = { kind: 'vision', shape: latents.shape, fps: plan.fps };
    const tensor = own(uploadFloats(b, latents.data, latents.shape));
    return {
      kind: 'vision',
      latents: tensor,
      noisy: own(b.zeros([itemRows(item, patch)], 'f32')),
      predicted: false,
      item,
    };
  });
  const hasControls = controls.length > 0;
  const positions = new Map<BranchName, Positions>();
  const makeBranch = (name: BranchName): Branch => {
    const before = name === 'no-control' ? [] : controls;
    const items = [...before.map(({ item }) => item), ...targets.map(({ item }) => item)];
    const text = texts.of(name);
    const placed = positionsOf(networks, items, plan, text.textTokens);
    positions.set(name, placed);
    const rope = own(
      ropeTables(b, placed, { headDim: config.headDim, theta: config.ropeTheta, axes: config.ropeAxes }),
    );
    const rows = items.reduce((sum, item) => sum + itemRows(item, patch), 0);
    const routes = own(groupRoutes(b, routesOf(items, patch, plan, before.length)));
    const segments = (samples: readonly Tensor[]) => [
      ...before,
      ...targets.map(({ item }, i) => targetSegment(item, samples[i] as Tensor, noisy[i] as Tensor, projection)),
    ];
    return { name, context: { text, rope, routes }, segments, rows };
  };
  const branches = neededBranches(plan.guidance, timesteps, hasControls).map(makeBranch);
  const tensors = [
    ...noisy,
    ...controls.map(({ latents }) => latents),
    ...branches.flatMap(({ context: { rope, routes } }) => [
      rope.cos,
      rope.sin,
      ...routes.flatMap(({ mixing }) => (mixing ? [mixing.coefficients] : [])),
    ]),
  ];
  return {
    targets,
    branches,
    hasControls,
    positions,
    layout: describeLayout(plan, targets, controls, branches),
    tensors,
  };
}

/** All that shapes and addresses depend on, and the action domain, whose projections are weights. */
function describeLayout(
  plan: Plan,
  targets: readonly Target[],
  controls: readonly { readonly item: ItemLayout }[],
  branches: readonly Branch[],
): string {
  return JSON.stringify([
    targets.map(({ item: { kind, shape }, mask }) => [kind, shape, mask !== null]),
    controls.map(({ item }) => item.shape),
    branches.map(({ name, context }) => [
      name,
      context.routes.map(({ routes }) => routes.map(({ queries, keys }) => [queries, keys])),
    ]),
    plan.action?.domain ?? null,
  ]);
}

function uploadRows(b: Backend, values: Float32Array): Tensor {
  return uploadFloats(b, values, [values.length]);
}

function positionsOf(
  { transformer: { config } }: Networks,
  items: readonly ItemLayout[],
  plan: Plan,
  textTokens: number,
): Positions {
  const shareTemporalPositions = plan.transfer?.shareTemporalPositions ?? true;
  return sequencePositions(items, config, { textTokens, shareTemporalPositions });
}

function routesOf(items: readonly ItemLayout[], patch: number, plan: Plan, controlCount: number) {
  const rows = items.map((item) => itemRows(item, patch));
  const total = rows.reduce((sum, count) => sum + count, 0);
  if (!plan.transfer || controlCount < 2 || plan.transfer.attention === 'joint') return jointRoutes(total);
  return weightedRoutes(
    rows.slice(0, controlCount),
    total,
    plan.transfer.hints.map((hint) => hint.weight),
  );
}

function targetSegment(
  item: ItemLayout,
  latents: Tensor,
  noisy: Tensor,
  projection: ActionProjection | null,
): GenSegment {
  if (item.kind !== 'action') return { kind: item.kind, latents, noisy, predicted: true };
  if (!projection) throw new Error('an action target needs its projections');
  return { kind: 'action', latents, noisy, predicted: true, projection };
}
