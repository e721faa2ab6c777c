/**
 * Measures the graph of a text without a model: `npm run bench:extraction -- [--folds 5] [--documents 250] [--show]`. Adds
 * each labelled document to a dataset of its own over HTTP, builds it and compares entities and relations with the labels.
 * The shipped models have learned from these documents; `--folds` trains new ones without each fold of the documents and
 * extracts that fold with them, in this process. `--show` prints what was missed and made up. Prints JSON; percentages of:
 *   recall      labelled entities (persons, organisations, places, others) of which one name is the name of a node, by kind
 *   type        of those, the ones whose node has the labelled kind
 *   precision   nodes called person, organisation or place whose name is that of a labelled entity of any kind
 *   pairs       labelled pairs of related entities joined by an edge (recall); edges between labelled entities that join a
 *               labelled pair (precision)
 */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { createDocumentEntities } from '../../services/cognify/pipeline/document-entities.ts';
import { TIMESTAMP, withTimes } from '../../services/cognify/pipeline/times.ts';
import { nodeName } from '../../services/common/kernel/ids.ts';
import { extractByRules, type NameModels } from '../../services/common/text/extraction/rules/extract-by-rules.ts';
import { readSlotModel } from '../../services/common/text/extraction/rules/slot-model.ts';
import { createTagger } from '../../services/common/text/extraction/rules/tagger.ts';
import {
  type LabelledDocument,
  normalName,
} from '../../services/common/text/extraction/rules/training/labelled-document.ts';
import { PAIR_TRAINING, pairExamples } from '../../services/common/text/extraction/rules/training/pair-examples.ts';
import { crossValidated, train } from '../../services/common/text/extraction/rules/training/train-slot-model.ts';
import {
  entityTypeExamples,
  TYPE_TRAINING,
} from '../../services/common/text/extraction/rules/training/type-examples.ts';
import { type BenchServer, startBenchServer } from './bench-server.ts';
import { percent } from './paired.ts';

interface Graph {
  readonly entities: readonly { readonly id: string; readonly name: string; readonly kind: string }[];
  readonly edges: readonly { readonly source: string; readonly target: string }[];
}

/** A graph as the API shows it. */
interface ShownGraph extends Pick<Graph, 'edges'> {
  readonly nodes: readonly { readonly id: string; readonly label: string; readonly type: string }[];
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
    folds: { type: 'string', default: '0' },
    show: { type: 'boolean', default: false },
  },
});

const { documents: all } = JSON.parse(await readFile(path.resolve(values.data), 'utf8')) as {
  readonly documents: readonly LabelledDocument[];
};
const documents = all.slice(0, Number(values.documents));
const folds = Number(values.folds);
if (!Number.isInteger(folds) || folds < 0 || folds === 1) throw new Error('--folds needs at least two folds');
const found: Record<string, number[]> = Object.fromEntries(KINDS.map((kind) => [kind, []]));
const typed: Record<string, number[]> = Object.fromEntries(KINDS.map((kind) => [kind, []]));
const called: number[] = [];
const pairRecall: number[] = [];
const pairPrecision: number[] = [];
if (folds > 0) compareFolds();
else {
  await using server = await startBenchServer();
  for (const [at, document] of documents.entries()) compare(document, await builtGraph(server, document, at));
}

/** Extracts each fold with models that know neither its texts nor its labels. */
function compareFolds(): void {
  const tag = createTagger();
  const ofTypes = entityTypeExamples(all);
  for (let fold = 0; fold < folds; fold++) {
    const isKnown = ({ group }: { readonly group: number }): boolean => group < 0 || group % folds !== fold;
    // The model of relations learns with types that a model gives to texts it has not learned from.
    const typesOf = crossValidated(ofTypes.filter(isKnown), TYPE_TRAINING, folds);
    const relations = readSlotModel(train(pairExamples(all, typesOf).filter(isKnown), PAIR_TRAINING));
    const models: NameModels = { types: () => typesOf(fold), relations: () => relations };
    for (let at = fold; at < documents.length; at += folds) {
      const document = documents[at] as LabelledDocument;
      const { text } = document;
      const extraction = extractByRules({ text, documentName: `${at}`, headings: [], knownNames: [] }, tag, models);
      const parts = [{ kind: 'paragraph', start: 0, end: text.length }] as const;
      const collected = createDocumentEntities();
      collected.add('', withTimes(extraction, { text, parts, headings: [] }, { writtenAt: null }), []);
      compare(document, resolvedGraph(collected.resolve()));
    }
  }
}

function resolvedGraph({
  entities,
  relations,
}: ReturnType<ReturnType<typeof createDocumentEntities>['resolve']>): Graph {
  return {
    entities: entities
      .filter(({ isKeyword, type }) => !isKeyword && type !== TIMESTAMP)
      .map(({ id, name, type }) => ({ id, name, kind: kindOf(type) })),
    edges: relations.map(({ sourceId, targetId }) => ({ source: sourceId, target: targetId })),
  };
}

async function builtGraph(server: BenchServer, { text }: LabelledDocument, at: number): Promise<Graph> {
  const dataset = `document-${at}`;
  await server.upload(dataset, [{ name: `${at}.txt`, content: text }]);
  await server.post('/cognify', { datasets: [dataset] });
  const list = (await server.get('/datasets')) as readonly { readonly id: string; readonly name: string }[];
  const { id = '' } = list.find(({ name }) => name === dataset) ?? {};
  const { nodes, edges } = (await server.get(`/datasets/${id}/graph`)) as ShownGraph;
  const types = new Map(nodes.filter(({ type }) => type === 'EntityType').map((node) => [node.id, kindOf(node.label)]));
  const kinds = new Map(
    edges.flatMap(({ source, target }) => (types.has(target) ? [[source, types.get(target)]] : [])),
  );
  return {
    entities: nodes
      .filter(({ type }) => type === 'Entity')
      .map((node) => ({ id: node.id, name: node.label, kind: kinds.get(node.id) ?? 'other' })),
    edges,
  };
}

function kindOf(type: string): string {
  return KIND_OF_TYPE.get(type.toLowerCase()) ?? 'other';
}

function compare(document: LabelledDocument, { entities, edges }: Graph): void {
  const nodesByName = Map.groupBy(entities, ({ name }) => spelling(name));
  const labelOf = new Map<string, number>();
  for (const [at, { type, names }] of document.entities.entries()) {
    const matching = names.flatMap((name) => nodesByName.get(spelling(name)) ?? []);
    for (const { id } of matching) labelOf.set(id, at);
    if (!(KINDS as readonly string[]).includes(type)) continue;
    found[type]?.push(Number(matching.length > 0));
    if (matching.length > 0) typed[type]?.push(Number(matching.some(({ kind }) => kind === type)));
    if (values.show && matching.length === 0) note(document, `missed ${type} ${names[0]}`);
    if (values.show && matching.length > 0 && !matching.some(({ kind }) => kind === type)) {
      note(document, `${names[0]} is ${type}, called ${matching.map(({ kind }) => kind).join(', ')}`);
    }
  }
  for (const { id, name, kind } of entities) {
    if (kind === 'other') continue;
    called.push(Number(labelOf.has(id)));
    if (values.show && !labelOf.has(id)) note(document, `no entity: ${name} [${kind}]`);
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

/** The spelling under which names are compared: that of the API, without case and apostrophes. */
function spelling(name: string): string {
  return nodeName(normalName(name));
}

function note(document: LabelledDocument, text: string): void {
  process.stderr.write(`${document.title}: ${text}\n`);
}

const report = {
  documents: documents.length,
  ...(folds > 0 ? { folds } : {}),
  recall: { all: percent(Object.values(found).flat()), ...byKind(found) },
  type: { all: percent(Object.values(typed).flat()), ...byKind(typed) },
  precision: percent(called),
  pairs: { recall: percent(pairRecall), precision: percent(pairPrecision) },
};
process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);

function byKind(of: Readonly<Record<string, readonly number[]>>): Record<string, number> {
  return Object.fromEntries(Object.entries(of).map(([kind, list]) => [kind, percent(list)]));
}
