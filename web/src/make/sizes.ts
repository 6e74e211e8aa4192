// Trained sizes as shapes and tiers: what the model's description lists, sorted by how it looks.

/** A trained size of one tier. */
export interface TierSize {
  readonly tier: string;
  readonly width: number;
  readonly height: number;
}

/** A shape with its sizes, small ones first. */
export interface Shape {
  /** As `16:9`. */
  readonly label: string;
  readonly sizes: readonly TierSize[];
}

const knownShapes = ['1:1', '4:3', '3:4', '3:2', '2:3', '16:9', '9:16'] as const;

/** The everyday name of a shape: the nearest by the logarithm of the sides. 320 by 192 is 16:9. */
export function shapeName(width: number, height: number): string {
  const far = (name: string) => {
    const [w = 1, h = 1] = name.split(':').map(Number);
    return Math.abs(Math.log((width * h) / (height * w)));
  };
  return [...knownShapes].sort((a, b) => far(a) - far(b))[0] ?? '1:1';
}

/** The sizes that a model was trained with, by shape. @param resolutions WIDTHxHEIGHT by tier */
export function shapesOf(resolutions: Readonly<Record<string, readonly string[]>>): readonly Shape[] {
  const byLabel = new Map<string, TierSize[]>();
  for (const [tier, sizes] of Object.entries(resolutions)) {
    for (const size of sizes) {
      const [width = 0, height = 0] = size.split('x').map(Number);
      if (!(width > 0 && height > 0)) continue;
      const label = shapeName(width, height);
      byLabel.set(label, [...(byLabel.get(label) ?? []), { tier, width, height }]);
    }
  }
  return knownShapes.flatMap((label) => {
    const sizes = byLabel.get(label);
    return sizes ? [{ label, sizes: sizes.sort((a, b) => a.width * a.height - b.width * b.height) }] : [];
  });
}

/** The size of a shape nearest to a number of pixels. */
export function nearestSize({ sizes }: Shape, pixels: number): TierSize | undefined {
  const far = (size: TierSize) => Math.abs(Math.log((size.width * size.height) / pixels));
  return [...sizes].sort((a, b) => far(a) - far(b))[0];
}
