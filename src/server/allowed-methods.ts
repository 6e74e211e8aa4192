// Which methods an address takes: what tells a wrong method from a wrong address.
import type { FastifyInstance } from 'fastify';

/** Notes the routes that are added from now on. */
export class AllowedMethods {
  readonly #routes: { readonly pattern: RegExp; readonly methods: readonly string[] }[] = [];

  constructor(app: FastifyInstance) {
    app.addHook('onRoute', ({ url, method }) => {
      // The page's files lie anywhere: that they are read says nothing of an address that is none of them.
      if (url !== '/*') this.#routes.push({ pattern: patternOf(url), methods: [method].flat() });
    });
  }

  /** Methods that the path takes, in order of the alphabet; none where there is nothing. */
  of(path: string): readonly string[] {
    const methods = this.#routes.flatMap(({ pattern, methods }) => (pattern.test(path) ? methods : []));
    return [...new Set(methods)].sort();
  }
}

/** `/v1/videos/:id` and `/v1/models/*` as an expression. */
function patternOf(url: string): RegExp {
  const parts = url.split('/').map((part) => {
    if (part.startsWith(':')) return '[^/]+';
    return part === '*' ? '.*' : part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  });
  return new RegExp(`^${parts.join('/')}/?$`);
}
