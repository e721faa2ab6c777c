import type { DataItem } from '../../common/domain/data-item.ts';
import type { MergedEdge, MergedNode } from '../../common/domain/graph/merge.ts';
import { NODE_TYPES } from '../../common/domain/index-rows.ts';
import { type DatasetRef, scopeOf } from '../../common/kernel/dataset.ts';
import { nodeName } from '../../common/kernel/ids.ts';
import { pagesOf } from '../../common/kernel/result-page.ts';
import type { DatasetScope } from '../../common/kernel/scope.ts';
import { openGraph } from '../../common/records/cognify/visible-graph.ts';
import type { IngestDependencies } from '../dependencies.ts';

const ITEMS_PAGE = 500;

/**
 * The memory of a dataset as Markdown, piece by piece (ingest.md §8.3). Names of nodes are held while it goes on, because
 * relationships are told by them; relationships, the greatest part, are not.
 */
export async function* memoryMarkdown(
  dependencies: IngestDependencies,
  dataset: DatasetRef,
  signal: AbortSignal,
): AsyncGenerator<string> {
  const scope = scopeOf(dataset);
  const graph = await openGraph(dependencies, scope);
  const nodes = await sortedNodes(graph.nodes(signal));
  let relationships = 0;
  for await (const page of graph.edges(signal)) relationships += page.length;
  const documents = await documentLines(dependencies, scope);
  const at = shownTime(dependencies.clock.now());
  yield `# Dataset: ${oneLine(dataset.name)}\n\n`;
  yield `Exported: ${at} | ${documents.length} documents | ${nodes.entities.length} entities | ${relationships} relationships\n`;
  yield section('Summaries', nodes.summaries, '\n\n');
  yield section('Entities', nodes.entities, '\n', '| Entity | Description |\n|--------|-------------|\n');
  if (relationships > 0) {
    yield '\n## Relationships\n\n| Source | Relationship | Target |\n|--------|-------------|--------|\n';
    for await (const page of graph.edges(signal)) yield page.map((edge) => edgeRow(edge, nodes.names)).join('');
  }
  yield section('Documents', documents, '\n');
  yield section('Other Nodes', nodes.others, '\n');
}

async function sortedNodes(pages: AsyncGenerator<readonly MergedNode[]>) {
  const summaries: string[] = [];
  const entities: string[] = [];
  const others: string[] = [];
  const names = new Map<string, string>();
  for await (const page of pages) {
    for (const node of page) {
      const name = nameOf(node);
      names.set(node.id, name);
      if (node.type === NODE_TYPES.summary) summaries.push(quoted(textOf(node)));
      else if (node.type === NODE_TYPES.entity) entities.push(`| ${cell(name)} | ${cell(node.description)} |`);
      else if (!HELD_ELSEWHERE.has(node.type)) others.push(`- [${oneLine(node.type)}] ${oneLine(name)}`);
    }
  }
  return { summaries, entities, others, names };
}

/** Documents are listed as items; their pieces are in the documents. */
const HELD_ELSEWHERE: ReadonlySet<string> = new Set([NODE_TYPES.document, NODE_TYPES.chunk]);

async function documentLines({ items }: IngestDependencies, scope: DatasetScope): Promise<readonly string[]> {
  const lines: string[] = [];
  for await (const page of pagesOf((after) => items.oldestFirst(scope, { after, limit: ITEMS_PAGE }))) {
    for (const item of page) lines.push(documentLine(item));
  }
  return lines;
}

function documentLine({ name, extension, createdAt }: DataItem): string {
  return `- **${oneLine(name)}** (${oneLine(extension).toUpperCase()}, ${shownDate(new Date(createdAt))})`;
}

function edgeRow({ source, relation, target }: MergedEdge, names: ReadonlyMap<string, string>): string {
  return `| ${cell(names.get(source) ?? source)} | ${cell(relation)} | ${cell(names.get(target) ?? target)} |\n`;
}

function nameOf({ id, name, type }: MergedNode): string {
  if (type === NODE_TYPES.summary || type === NODE_TYPES.chunk || name.trim() === '') return `${type}_${id}`;
  return type === NODE_TYPES.entity || type === NODE_TYPES.entityType ? nodeName(name) : name;
}

function textOf({ properties, description, name }: MergedNode): string {
  const { text } = properties;
  return typeof text === 'string' ? text : description || name;
}

/** Empty sections are left out. */
function section(title: string, lines: readonly string[], separator: string, head = ''): string {
  return lines.length === 0 ? '' : `\n## ${title}\n\n${head}${lines.join(separator)}\n`;
}

function quoted(text: string): string {
  return text
    .split('\n')
    .map((line) => `> ${line}`)
    .join('\n');
}

function cell(text: string): string {
  return oneLine(text).replaceAll('|', '\\|');
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}

const DATE = new Intl.DateTimeFormat('en-US', { dateStyle: 'medium', timeZone: 'UTC' });
const TIME = new Intl.DateTimeFormat('en-GB', { timeStyle: 'short', timeZone: 'UTC' });

/** `Nov 22, 2026` */
function shownDate(at: Date): string {
  return DATE.format(at);
}

/** `Nov 22, 2026 10:12 UTC` */
function shownTime(at: Date): string {
  return `${DATE.format(at)} ${TIME.format(at)} UTC`;
}
