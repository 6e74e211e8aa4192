// What a policy's actions must look like before a robot gets them.

type Named = Readonly<Record<string, unknown>>;

/** Bounds that a policy's configuration states; null where it does not. */
export interface ActionContract {
  readonly horizon: number | null;
  readonly maxHorizon: number | null;
  readonly dim: number | null;
}

/** The contract of a `policy_server_config`. */
export function contractOf(config: Named): ActionContract {
  const count = (name: string) => {
    const value = config[name];
    return typeof value === 'number' && Number.isInteger(value) && value > 0 ? value : null;
  };
  return { horizon: count('action_horizon'), maxHorizon: count('max_action_horizon'), dim: count('action_dim') };
}

/** @throws Error when actions are empty, ragged, not finite, or outside of the contract */
export function checkActions(rows: readonly (readonly number[])[], { horizon, maxHorizon, dim }: ActionContract): void {
  const width = rows[0]?.length ?? 0;
  const fail = (why: string): never => {
    throw new Error(`the policy's actions cannot be sent: ${why}`);
  };
  if (width === 0) fail('they are empty');
  if (rows.some((row) => row.length !== width)) fail('their rows differ in length');
  if (!rows.every((row) => row.every(Number.isFinite))) fail('not all of them are finite');
  if (horizon !== null && rows.length !== horizon) fail(`${rows.length} steps instead of ${horizon}`);
  if (maxHorizon !== null && rows.length > maxHorizon) fail(`${rows.length} steps, at most ${maxHorizon} are allowed`);
  if (dim !== null && width !== dim) fail(`${width} numbers a step instead of ${dim}`);
}
