// Flags of what is left out or kept so that requests take less time.
import { type ServeFlag, works } from './serve-flag.js';

/** The flags. */
export const reuseFlags: readonly ServeFlag[] = [
  {
    name: 'cache-backend',
    group: 'Requests',
    kind: 'text',
    value: 'NAME',
    choices: ['none', 'tea_cache', 'sea_cache'],
    about: 'Step cache of requests that state none (step_cache): none where absent.',
    does: works,
  },
  {
    name: 'cache-config',
    group: 'Requests',
    kind: 'json',
    value: 'JSON',
    about: 'Settings of --cache-backend, as {"rel_l1_thresh": 0.2, "num_warmup_steps": 12}; see step_cache.',
    does: works,
  },
  {
    name: 'warmup',
    group: 'Operation',
    kind: 'text',
    value: 'SHAPE',
    several: true,
    about:
      'Shape to make ready at the start, as 1024x1024, 832x480x49 or 832x480x49:image-to-video; several with commas.',
    does: works,
  },
  {
    name: 'text-cache-size',
    group: 'Operation',
    kind: 'integer',
    value: 'BYTES',
    minimum: 0,
    about: 'Most memory for prompts that were read; 1 GiB on a GPU and 64 MiB on the CPU where absent, 0 for none.',
    does: works,
  },
  {
    name: 'graph-cache-size',
    group: 'Operation',
    kind: 'integer',
    value: 'N',
    minimum: 0,
    maximum: 64,
    about: 'Shapes of requests whose recorded steps are kept on a GPU; 4 where absent, 0 for none.',
    does: works,
  },
];
