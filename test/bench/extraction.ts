/**
 * What the graph of a text is worth without a model: `npm run bench:extraction -- [--documents 250] [--show]`. Adds each
 * labelled document to a dataset of its own over HTTP, builds it and compares entities and relations with the labels.
 * `--show` prints what was missed and what was made up. Prints JSON; percentages of:
 *   recall      labelled entities (persons, organisations, places, others) of which one name is the name of a node, by kind
 *   type        of those, the ones whose node has the labelled kind
 *   precision   nodes called person, organisation or place whose name is that of a labelled entity of any kind
 *   pairs       labelled pairs of related entities joined by an edge (recall); edges between labelled entities that join a
 *               labelled pair (precision)
 */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { startBenchServer } from './bench-server.ts';
import { percent } from './paired.ts';

interface Labelled {
  readonly title: string;
  readonly text: string;
  readonly entities: readonly { readonly type: string; readonly names: readonly string[] }[];
  readonly relations: readonly { readonly head: number; readonly tail: number }[];
}

interface Graph {
  readonly nodes: readonly { readonly id: string; readonly label: string; readonly type: string }[];
  readonly edges: readonly { readonly source: string; readonly target: string }[];
}

const KINDS = ['person', 'organisation', 'place', 'other'] as const;

/** Types of nodes by the kind of the labels; every other type counts as `other`. */
const KIND_OF_TYPE: ReadonlyMap<string, string> = new Map([
  ['person', 'person'],
  ['organization', 'organisation'],
  ['organisation', 'organisation'],
  ['company', 'organisation'],
  ['location', 'place'],
  ['place', 'place'],
  ['country', 'place'],
  ['city', 'place'],
]);

const { values } = parseArgs({
  options: {
    data: {
      type: 'string',
      default: new URL('../../../shared/data/extraction/redocred.json', import.meta.url).pathname,
    },
    documents: { type: 'string', default: '250' },
    show: { type: 'boolean', default: false },
  },
});

const { documents } = JSON.parse(await readFile(path.resolve(values.data), 'utf8')) as {
  readonly documents: readonly Labelled[];
};
const found: Record<string, number[]> = Object.fromEntries(KINDS.map((kind) => [kind, []]));
const typed: Record<string, number[]> = Object.fromEntries(KINDS.map((kind) => [kind, []]));
const called: number[] = [];
const pairRecall: number[] = [];
const pairPrecision: number[] = [];
await using server = await startBenchServer();
for (const [at, document] of documents.slice(0, Number(values.documents)).entries()) {
  const dataset = `document-${at}`;
  await server.upload(dataset, [{ name: `${at}.txt`, content: document.text }]);
  await server.post('/cognify', { datasets: [dataset] });
  const list = (await server.get('/datasets')) as readonly { readonly id: string; readonly name: string }[];
  const { id = '' } = list.find(({ name }) => name === dataset) ?? {};
  compare(document, (await server.get(`/datasets/${id}/graph`)) as Graph);
}

function compare(document: Labelled, { nodes, edges }: Graph): void {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const types = new Map<string, string>();
  for (const { source, target } of edges) {
    const type = byId.get(target);
    if (type?.type === 'EntityType') types.set(source, KIND_OF_TYPE.get(type.label.toLowerCase()) ?? 'other');
  }
  const entities = nodes.filter(({ type }) => type === 'Entity');
  const nodesByName = Map.groupBy(entities, ({ label }) => normal(label));
  const labelOf = new Map<string, number>();
  for (const [at, { type, names }] of document.entities.entries()) {
    const matching = names.flatMap((name) => nodesByName.get(normal(name)) ?? []);
    for (const { id } of matching) labelOf.set(id, at);
    if (!(KINDS as readonly string[]).includes(type)) continue;
    found[type]?.push(Number(matching.length > 0));
    if (matching.length > 0) typed[type]?.push(Number(matching.some(({ id }) => types.get(id) === type)));
    if (values.show && matching.length === 0) note(document, `missed ${type} ${names[0]}`);
    if (values.show && matching.length > 0 && !matching.some(({ id }) => types.get(id) === type)) {
      note(document, `${names[0]} is ${type}, called ${matching.map(({ id }) => types.get(id)).join(', ')}`);
    }
  }
  for (const { id, label } of entities) {
    if (types.get(id) === 'other' || types.get(id) === undefined) continue;
    called.push(Number(labelOf.has(id)));
    if (values.show && !labelOf.has(id)) note(document, `no entity: ${label} [${types.get(id)}]`);
  }
  const wanted = new Set(document.relations.map(({ head, tail }) => pairOf(head, tail)));
  const joined = new Set<string>();
  for (const { source, target } of edges) {
    const [one, other] = [labelOf.get(source), labelOf.get(target)];
    if (one !== undefined && other !== undefined && one !== other) joined.add(pairOf(one, other));
  }
  for (const pair of wanted) pairRecall.push(Number(joined.has(pair)));
  for (const pair of joined) pairPrecision.push(Number(wanted.has(pair)));
}

function pairOf(one: number, other: number): string {
  return one < other ? `${one} ${other}` : `${other} ${one}`;
}

function normal(name: string): string {
  return name
    .normalize('NFKC')
    .toLowerCase()
    .replace(/^the\s+/u, '')
    .replace(/\s+/gu, ' ')
    .trim();
}

function note(document: Labelled, text: string): void {
  process.stderr.write(`${document.title}: ${text}\n`);
}

const report = {
  documents: Math.min(documents.length, Number(values.documents)),
  recall: { all: percent(Object.values(found).flat()), ...byKind(found) },
  type: { all: percent(Object.values(typed).flat()), ...byKind(typed) },
  precision: percent(called),
  pairs: { recall: percent(pairRecall), precision: percent(pairPrecision) },
};
process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);

function byKind(of: Readonly<Record<string, readonly number[]>>): Record<string, number> {
  return Object.fromEntries(Object.entries(of).map(([kind, list]) => [kind, percent(list)]));
}
