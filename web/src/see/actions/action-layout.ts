// What the columns of robot actions mean, by their number. Layout: a pose is three numbers of position and the first two columns
// of a rotation; a gripper follows it; two arms stand one after the other.

/** One column of the rows. */
export interface ActionColumn {
  readonly index: number;
  /** Short and unique among the columns, as "x", "r1", "2 x" for the second arm. */
  readonly label: string;
}

/** Columns that share a plot. */
export interface ColumnGroup {
  readonly kind: 'position' | 'rotation' | 'joints' | 'gripper' | 'numbers';
  /** Counts arms from 1; 0 where there is only one. */
  readonly arm: number;
  readonly columns: readonly ActionColumn[];
}

/** How places in space follow from the rows; null where they do not. */
export type PathSource =
  /** Each row is a change of pose from one frame to the next, in the moving frame. */
  | { readonly kind: 'pose-steps'; readonly position: number; readonly rotation: number }
  /** Each row names the place itself. */
  | { readonly kind: 'places'; readonly position: number; readonly width: 2 | 3 };

export interface ActionLayout {
  readonly groups: readonly ColumnGroup[];
  /** One for each arm. */
  readonly paths: readonly { readonly arm: number; readonly source: PathSource; readonly gripper: number | null }[];
}

/** What the request said of the rows' words: `midtrain` rows are positions and quaternions, with a gripper. */
export type RowWords = 'model' | 'joint_pos' | 'midtrain';

const poseNames = ['x', 'y', 'z', 'r1', 'r2', 'r3', 'r4', 'r5', 'r6'];

/**
 * The columns of rows that have `width` numbers.
 * @param width 1 … 64
 */
export function layoutOf(width: number, words: RowWords = 'model'): ActionLayout {
  if (words === 'midtrain' && width === 8) return quaternionLayout();
  switch (width) {
    case 2:
    case 3:
      return placeLayout(width);
    case 8:
      return jointLayout();
    case 9:
    case 10:
      return armsLayout(1, width);
    case 20:
      return armsLayout(2, 10);
    default:
      return { groups: [numbered('numbers', width)], paths: [] };
  }
}

/** All labels in the order of the columns. */
export function labelsOf({ groups }: ActionLayout): readonly string[] {
  return groups
    .flatMap(({ columns }) => columns)
    .toSorted((a, b) => a.index - b.index)
    .map(({ label }) => label);
}

function armsLayout(arms: 1 | 2, width: number): ActionLayout {
  const groups: ColumnGroup[] = [];
  const paths: ActionLayout['paths'][number][] = [];
  for (let place = 0; place < arms; place++) {
    const arm = arms === 1 ? 0 : place + 1;
    const start = place * width;
    const column = (label: string, offset: number) => ({
      index: start + offset,
      label: arm === 0 ? label : `${arm} ${label}`,
    });
    const pose = poseNames.map(column);
    groups.push(
      { kind: 'position', arm, columns: pose.slice(0, 3) },
      { kind: 'rotation', arm, columns: pose.slice(3) },
    );
    const hasGripper = width > poseNames.length;
    if (hasGripper) groups.push({ kind: 'gripper', arm, columns: [column('gripper', poseNames.length)] });
    paths.push({
      arm,
      source: { kind: 'pose-steps', position: start, rotation: start + 3 },
      gripper: hasGripper ? start + poseNames.length : null,
    });
  }
  return { groups, paths };
}

function placeLayout(width: 2 | 3): ActionLayout {
  const columns = poseNames.slice(0, width).map((label, index) => ({ index, label }));
  return {
    groups: [{ kind: 'position', arm: 0, columns }],
    paths: [{ arm: 0, source: { kind: 'places', position: 0, width }, gripper: null }],
  };
}

function jointLayout(): ActionLayout {
  return { groups: [numbered('joints', 7), gripperAt(7)], paths: [] };
}

function quaternionLayout(): ActionLayout {
  const column = (label: string, index: number) => ({ index, label });
  return {
    groups: [
      { kind: 'position', arm: 0, columns: ['x', 'y', 'z'].map(column) },
      { kind: 'rotation', arm: 0, columns: ['qx', 'qy', 'qz', 'qw'].map((label, i) => column(label, i + 3)) },
      gripperAt(7),
    ],
    paths: [{ arm: 0, source: { kind: 'places', position: 0, width: 3 }, gripper: 7 }],
  };
}

function gripperAt(index: number): ColumnGroup {
  return { kind: 'gripper', arm: 0, columns: [{ index, label: 'gripper' }] };
}

function numbered(kind: 'joints' | 'numbers', count: number): ColumnGroup {
  const letter = kind === 'joints' ? 'q' : 'a';
  return {
    kind,
    arm: 0,
    columns: Array.from({ length: count }, (_, index) => ({ index, label: `${letter}${index + 1}` })),
  };
}
