// What computes which shape: noted when it is first chosen, read by tools.

/** Shapes remembered of each op. */
const mostShapes = 1024;

export type ChosenOp = 'attention' | 'convolution';

export class KernelChoices {
  readonly #choices: Readonly<Record<ChosenOp, Map<string, string>>> = { attention: new Map(), convolution: new Map() };

  note(op: ChosenOp, shape: string, choice: string): void {
    const known = this.#choices[op];
    if (known.size < mostShapes || known.has(shape)) known.set(shape, choice);
  }

  /** `SHAPE: CHOICE`, in the order in which shapes were first seen. */
  of(op: ChosenOp): readonly string[] {
    return [...this.#choices[op]].map(([shape, choice]) => `${shape}: ${choice}`);
  }
}

/** What names an attention. */
export interface AttentionShape {
  readonly rows: number;
  readonly heads: number;
  readonly d: number;
  readonly segments: readonly { readonly rows: number; readonly groups: number; readonly length: number }[];
  readonly causal: boolean;
}

/** What names a convolution; sizes are T, H, W. */
export interface ConvolutionShape {
  readonly input: readonly number[];
  readonly output: readonly number[];
  readonly kernel: readonly number[];
  readonly stride: readonly number[];
  readonly dilation: readonly number[];
  readonly channels: number;
  readonly outputs: number;
  readonly groups: number;
}

/** `5070 on 5070+384 padded, 32/8 x 128`. */
export function describeAttention({ rows, heads, d, segments, causal }: AttentionShape): string {
  const keys = segments.map((segment) => `${segment.rows}${segment.length ? ' padded' : ''}`).join('+');
  return `${rows} on ${keys}${causal ? ' causal' : ''}, ${heads}/${segments[0]?.groups ?? heads} x ${d}`;
}

/** `256 to 512, 3x3x3 at 13x60x104`, with what is not plain. */
export function describeConvolution(sizes: ConvolutionShape): string {
  const { input, output, kernel, stride, dilation, channels, outputs, groups } = sizes;
  const where = `${channels} to ${outputs}, ${kernel.join('x')} at ${input.join('x')} to ${output.join('x')}`;
  const unless = (name: string, three: readonly number[]) =>
    three.every((step) => step === 1) ? '' : `, ${name} ${three.join('x')}`;
  return `${where}${unless('stride', stride)}${unless('dilation', dilation)}${groups > 1 ? `, ${groups} groups` : ''}`;
}
