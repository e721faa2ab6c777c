import { joined } from './code-annotations.ts';

/** Routers that are made below others. */
const MAX_PREFIXES = 5;

export interface Router {
  readonly prefix: string;
  /** The router that it was made from; '' when it is made anew. */
  readonly of: string;
}

/** Routers of a file that were made with a prefix, by their names. */
export function routersIn(text: string): ReadonlyMap<string, Router> {
  const routers = new Map<string, Router>();
  for (const [, name = '', callee = '', given = ''] of text.matchAll(MADE)) {
    const group = /^(?:(\w+)\.)?(?:group|basePath)$/iu.exec(callee);
    const [, first] = /^\s*['"](\/[^'"]*)['"]/u.exec(given) ?? [];
    const [, named] = /\b(?:url_)?prefix\s*[:=]\s*['"]([^'"]*)['"]/u.exec(given) ?? [];
    const prefix = group === null ? named : first;
    if (prefix !== undefined) routers.set(name, { prefix, of: group?.[1] ?? '' });
  }
  return routers;
}

/** `name = callee(…)`, with what the call is given. */
const MADE = /\b(\w{1,60}) {0,4}:?= {0,4}(?:new )?([\w.]{1,80})\(([^()]{1,300})\)/gu;

/** The path below the prefix that its router was made with: `router = APIRouter(prefix="/x")`, `v1 := r.Group("/v1")`. */
export function belowRouter(routers: ReadonlyMap<string, Router>, receiver: string, path: string): string {
  let below = path;
  for (let at = receiver, steps = 0; steps < MAX_PREFIXES; steps += 1) {
    const router = routers.get(at);
    if (router === undefined) return below;
    below = joined(router.prefix, below);
    at = router.of;
  }
  return below;
}
