import type { CodeGraph } from './code-graph.ts';
import type { CodeNode } from './code-node.ts';

/** The routes that an address means, with or without a method: `GET /orders/:id`, `/orders/{id}`, `/orders/42`. */
export function routesAt({ nodes }: CodeGraph, asked: string): readonly CodeNode[] {
  const [, method, path = ''] = /^(?:([A-Za-z]+) )?(\/\S*)$/u.exec(asked.trim()) ?? [];
  if (path === '') return [];
  const wanted = partsOf(path);
  const rated = [...nodes.values()].flatMap((node) => {
    if (node.kind !== 'route' || !isOfMethod(node, method?.toUpperCase())) return [];
    const rank = rankOf(partsOf(node.name), wanted);
    return rank === 0 ? [] : [{ node, rank }];
  });
  const best = rated.reduce((most, { rank }) => Math.max(most, rank), 0);
  return rated.filter(({ rank }) => rank === best).map(({ node }) => node);
}

function isOfMethod({ properties }: CodeNode, method: string | undefined): boolean {
  const own = properties?.['method'];
  return method === undefined || own === method || own === 'ANY';
}

function partsOf(path: string): readonly string[] {
  return (path.split(/[?#]/u)[0] ?? '').split('/').filter((part) => part !== '');
}

/** 0: another address; more with each part that is the same word. */
function rankOf(own: readonly string[], wanted: readonly string[]): number {
  const isOpen = own.at(-1)?.startsWith('*') === true;
  if (isOpen ? wanted.length < own.length : wanted.length !== own.length) return 0;
  let rank = 1;
  for (const [at, part] of own.entries()) {
    const other = wanted[at] ?? '';
    if (part.toLowerCase() === other.toLowerCase()) rank += 2;
    else if (isParameter(part)) rank += isParameter(other) ? 1 : 0;
    else return 0;
  }
  return rank;
}

/** `:id`, `{id}`, `<int:id>`, `[id]`, `*rest`. */
function isParameter(part: string): boolean {
  return /^(?::|\*|\{.*\}$|<.*>$|\[.*\]$)/u.test(part);
}
