import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { sha256 } from '../../common/kernel/hashes.ts';
import type { Reply } from '../../common/platform/http/route.ts';

const object = z.record(z.string(), z.unknown());
export const visualisation = z
  .object({
    nodes: z.array(z.looseObject({ id: z.string(), name: z.string(), type: z.string() })),
    links: z.array(z.looseObject({ source: z.string(), target: z.string(), relation: z.string() })),
    color_maps: object,
    schema_graph: object,
    schema_data: object.nullable(),
    pipeline_stages: z.array(z.string()),
    edge_classes: z.record(z.string(), z.int()),
    bundles: z.record(z.string(), z.int()),
    provenance_index: object,
    has_meaningful_topological_rank: z.boolean(),
    memory_map: z.unknown(),
    search_events: z.array(z.unknown()),
  })
  .meta({ id: 'Visualisation' });

/** Serialises a JSON document in pieces, large lists by entries, so that the whole text is never in memory. */
export function* jsonPieces(document: Readonly<Record<string, unknown>>): Generator<string> {
  let separator = '{';
  for (const [key, value] of Object.entries(document)) {
    yield `${separator}${JSON.stringify(key)}:`;
    separator = ',';
    if (!Array.isArray(value)) {
      yield JSON.stringify(value) ?? 'null';
      continue;
    }
    yield '[';
    for (let start = 0; start < value.length; start += 500) {
      yield (start === 0 ? '' : ',') +
        value
          .slice(start, start + 500)
          .map((entry) => JSON.stringify(entry))
          .join(',');
    }
    yield ']';
  }
  yield '}';
}

export type GraphPage = (data: unknown) => Promise<Reply>;

/** Creates the page handler: reads the built page once, with a policy that allows its own script and style only. */
export function createPage(): GraphPage {
  let loaded: Promise<{ readonly html: string; readonly policy: string }> | undefined;
  const load = async () => {
    const html = await readFile(new URL('../../console/dist/graph.html', import.meta.url), 'utf8');
    const hashes = (tag: string): string =>
      [...html.matchAll(new RegExp(`<${tag}>([\\s\\S]*?)</${tag}>`, 'g'))]
        .map(([, content = '']) => `'sha256-${sha256(content, 'base64')}'`)
        .join(' ');
    const policy = `default-src 'none'; script-src ${hashes('script')}; style-src 'unsafe-inline'; img-src data:; worker-src blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'`;
    return { html, policy };
  };
  return async (data) => {
    loaded ??= load();
    const { html, policy } = await loaded;
    const embedded = JSON.stringify(data).replaceAll('<', '\\u003c');
    return {
      text: html.replace('{{data}}', () => embedded),
      headers: { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': policy },
    };
  };
}
