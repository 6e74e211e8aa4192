// What the protocol says of tasks is what the planner does.
import { describe, expect, it } from 'vitest';
import { factsOf, givenHint, inputFacts } from '../../../test/pipeline/plan-facts.js';
import { hintNames, type InputRole, RequestError, type TaskName, taskNames, traitsOf } from '../../protocol/index.js';
import { plan } from '../plan.js';
import { type GenerationRequest, hintKinds, tasks } from '../request.js';

const picture = inputFacts(320, 192);
const video = inputFacts(320, 192, 25, 24);
const rows = Array.from({ length: 16 }, () => Array.from({ length: 9 }, () => 0));

/** Plans a task with these inputs. Gives the frames of the result, or the parameter at fault. */
function framesOf(task: TaskName, roles: readonly InputRole[], more: Partial<GenerationRequest> = {}): number | string {
  const has = (role: InputRole) => roles.includes(role);
  const hints = hintKinds.filter(has).map((kind) => givenHint(kind));
  const edges = task === 'transfer' && has('video') && hints.length === 0 ? [{ kind: 'edge' } as const] : hints;
  const request: GenerationRequest = {
    prompt: 'A ball.',
    task,
    ...(task === 'transfer' ? { transfer: { hints: edges } } : {}),
    ...(traitsOf(task).isRobot
      ? { action: { domainName: 'av', rawActionDim: 9, ...(has('action') ? { actions: rows } : {}) } }
      : {}),
    ...more,
  };
  const facts = factsOf({
    image: has('image') ? picture : null,
    video: has('video') ? video : null,
    hints: edges.map(({ kind }) => (has(kind) ? video : null)),
  });
  try {
    return plan(request, facts).plan.frames;
  } catch (error) {
    if (error instanceof RequestError) return error.param ?? '';
    throw error;
  }
}

describe('the table of tasks', () => {
  it('has the tasks and hints of the planner, in its order', () => {
    expect(taskNames).toEqual(tasks);
    expect(hintNames).toEqual(hintKinds);
  });

  it.each(taskNames)('says what %s needs', (task) => {
    const { needs } = traitsOf(task);
    const least = leastOf(task);
    expect(framesOf(task, least)).toBeTypeOf('number');
    for (const group of needs) {
      const others = least.filter((role) => !group.includes(role));
      expect(framesOf(task, others), `without ${group}`).toBeTypeOf('string');
      for (const role of group) expect(framesOf(task, [...others, role]), role).toBeTypeOf('number');
    }
  });

  it.each(taskNames)('says whether %s takes sound, and what it makes', (task) => {
    const { takesSound, makes } = traitsOf(task);
    const frames = framesOf(task, leastOf(task));
    expect(framesOf(task, leastOf(task), { sound: true })).toBe(takesSound ? frames : 'generate_sound');
    expect(frames === 1).toBe(makes === 'picture');
  });
});

/** The first input of each group. */
function leastOf(task: TaskName): readonly InputRole[] {
  return traitsOf(task).needs.flatMap(([first]) => first ?? []);
}
