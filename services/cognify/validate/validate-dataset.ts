import type { MergedNode } from '../../common/domain/graph/merge.ts';
import { NODE_TYPES } from '../../common/domain/index-rows.ts';
import { type DatasetRef, scopeOf } from '../../common/kernel/dataset.ts';
import { idFor } from '../../common/kernel/ids.ts';
import type { DatasetScope } from '../../common/kernel/scope.ts';
import { slices } from '../../common/kernel/slices.ts';
import { visible } from '../../common/records/cognify/ledger.ts';
import { openGraph } from '../../common/records/cognify/visible-graph.ts';
import type { IndexKind } from '../../common/storage/ports/index-entry.ts';
import type { CognifyDependencies } from '../dependencies.ts';

interface ValidationIssue {
  readonly severity: 'error' | 'warning';
  readonly type:
    | 'orphaned_edge'
    | 'identity_id_mismatch'
    | 'missing_vector_entry'
    | 'missing_index_entry'
    | 'missing_document'
    | 'more_issues';
  readonly detail: string;
}

export interface Validation {
  readonly status: 'healthy' | 'degraded' | 'unhealthy';
  readonly nodes: number;
  readonly edges: number;
  readonly nodesByType: ReadonlyMap<string, number>;
  readonly issues: readonly ValidationIssue[];
}

type Dependencies = Pick<CognifyDependencies, 'graph' | 'text' | 'vectors' | 'ledger'>;
type Committed = Awaited<ReturnType<CognifyDependencies['ledger']['allCommitted']>>;

/** Issues that are reported one by one. */
const MAX_ISSUES = 1000;
const BATCH = 500;

/** Node types that have a row in each index, with the kind of the row. */
const INDEXED: ReadonlyMap<string, IndexKind> = new Map([
  [NODE_TYPES.entity, 'entity'],
  [NODE_TYPES.chunk, 'chunk'],
]);

/**
 * Checks the graph of a dataset, as clients see it, against the ledger and both indexes: the ends of edges, ids made from
 * names, rows of entities and chunks, a document node per built item. Reads everything and changes nothing. A run that commits
 * meanwhile may cause false issues; validate again.
 */
export async function validateDataset(
  dependencies: Dependencies,
  dataset: DatasetRef,
  signal?: AbortSignal,
): Promise<Validation> {
  const scope = scopeOf(dataset);
  const committed = await dependencies.ledger.allCommitted(scope);
  const graph = await openGraph(dependencies, scope);
  const issues = collectIssues();
  const known = new Set<string>();
  const nodesByType = new Map<string, number>();
  for await (const page of graph.nodes(signal)) {
    for (const node of page) {
      known.add(node.id);
      nodesByType.set(node.type, (nodesByType.get(node.type) ?? 0) + 1);
      if (isMisnamed(node))
        issues.add('warning', 'identity_id_mismatch', `${node.type} '${node.name}' has the id ${node.id}`);
    }
    for (const [type, kind] of INDEXED) {
      const found = page.filter((node) => node.type === type).map(({ id }) => id);
      for (const ids of slices(found, BATCH)) {
        await checkRows(dependencies, { scope, committed, kind, type, ids, issues });
      }
    }
  }
  let edges = 0;
  for await (const page of graph.edges(signal)) {
    edges += page.length;
    for (const { source, relation, target } of page) {
      if (known.has(source) && known.has(target)) continue;
      const end = known.has(source) ? target : source;
      issues.add('error', 'orphaned_edge', `${source} -[${relation}]-> ${target}: there is no node ${end}`);
    }
  }
  for (const item of committed.keys()) {
    if (!known.has(item)) issues.add('error', 'missing_document', `The built item ${item} has no node`);
  }
  return { status: issues.status(), nodes: known.size, edges, nodesByType, issues: issues.all() };
}

type Issues = ReturnType<typeof collectIssues>;

function collectIssues() {
  const issues: ValidationIssue[] = [];
  let count = 0;
  let hasErrors = false;
  return {
    add(severity: ValidationIssue['severity'], type: ValidationIssue['type'], detail: string) {
      count += 1;
      hasErrors ||= severity === 'error';
      if (issues.length < MAX_ISSUES) issues.push({ severity, type, detail });
    },
    status: (): Validation['status'] => (hasErrors ? 'unhealthy' : count > 0 ? 'degraded' : 'healthy'),
    all(): readonly ValidationIssue[] {
      if (count <= issues.length) return issues;
      return [...issues, { severity: 'warning', type: 'more_issues', detail: `and ${count - issues.length} more` }];
    },
  };
}

function isMisnamed({ id, type, name }: MergedNode): boolean {
  return (
    [NODE_TYPES.entity, NODE_TYPES.entityType, NODE_TYPES.timestamp].some((one) => one === type) &&
    id !== idFor(type, name)
  );
}

async function checkRows(
  { text, vectors }: Dependencies,
  check: {
    readonly scope: DatasetScope;
    readonly committed: Committed;
    readonly kind: IndexKind;
    readonly type: string;
    readonly ids: readonly string[];
    readonly issues: Issues;
  },
): Promise<void> {
  const { scope, committed, kind, type, ids, issues } = check;
  const [rows, entries] = await Promise.all([text.fetch(scope, kind, ids), vectors.fetch(scope, kind, ids)]);
  const indexed = new Set(visible(rows, committed).map(({ id }) => id));
  const embedded = new Set(visible(entries, committed).map(({ id }) => id));
  for (const id of ids) {
    if (!indexed.has(id)) issues.add('error', 'missing_index_entry', `${type} ${id} is in no text index`);
    if (!embedded.has(id)) issues.add('error', 'missing_vector_entry', `${type} ${id} has no vector`);
  }
}
