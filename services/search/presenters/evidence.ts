import type { TripletPayload } from '../../common/domain/index-rows.ts';
import type { DatasetRef } from '../../common/kernel/dataset.ts';
import type { CitedFact, RankedPassage, SearchOutcome } from '../model.ts';

type Completion = Extract<SearchOutcome, { kind: 'completion' }>;

/** An entry without the fields that every entry has. */
interface Entry {
  readonly kind: 'segment' | 'graph_node' | 'graph_edge' | 'triplet';
  readonly artifact_id: string;
  readonly role: 'used_as_context' | 'supports_assertion';
}

const NOTHING = {
  source_ref_key: null,
  data_id: null,
  chunk_id: null,
  chunk_index: null,
  document_name: null,
  source_node_id: null,
  target_node_id: null,
  relationship_name: null,
  assertion_id: null,
  label: null,
  score: null,
};

/**
 * Presents what an answer was made from (search-recall.md §5): the passages that it quotes, or that a model read, the entities
 * and relations of the graph, and the passages that state those relations.
 */
export function presentEvidence(outcome: Completion, dataset: DatasetRef | null): readonly object[] {
  const { passages, facts = [], triplets = [], used } = outcome;
  const nodeIds = new Set(used?.nodeIds ?? []);
  const edgeIds = new Set(used?.edgeIds ?? []);
  const shown = passages.filter(({ id }) => nodeIds.has(id));
  const stated = facts.filter(({ id }) => edgeIds.has(id));
  const byId = new Map(passages.map((passage) => [passage.id, passage]));
  const names = new Map(stated.flatMap(({ source, target }) => [source, target]).map(({ id, name }) => [id, name]));
  const entries: readonly (Entry & Partial<typeof NOTHING | object>)[] = [
    ...shown.map((passage) => ({
      ...segment(passage, dataset),
      role: 'used_as_context' as const,
      score: passage.score,
    })),
    ...[...names].map(([id, label]) => ({ ...context('graph_node', id), label })),
    ...stated.map((fact) => ({ ...context('graph_edge', fact.id), ...ends(fact) })),
    ...triplets.map(({ row }) => {
      const { source, target, relation, text } = row.payload as TripletPayload;
      const what = { source_node_id: source, target_node_id: target, relationship_name: relation, label: text };
      return { ...context('triplet', row.id), ...what };
    }),
    ...stated.flatMap((fact) => {
      const passage = byId.get(fact.chunkId ?? '');
      const role = { role: 'supports_assertion' as const, assertion_id: fact.id };
      return passage === undefined ? [] : [{ ...segment(passage, dataset), ...role }];
    }),
  ];
  return entries.map((entry, rank) => {
    const { kind, artifact_id, role, ...more } = entry;
    return { kind, artifact_id, role, dataset_id: dataset?.id ?? null, ...NOTHING, ...more, rank };
  });
}

function context(kind: Entry['kind'], id: string) {
  return { kind, artifact_id: id, role: 'used_as_context' as const };
}

function segment({ id, payload }: RankedPassage, dataset: DatasetRef | null) {
  const { documentId, chunkIndex, documentName } = payload;
  return {
    kind: 'segment' as const,
    artifact_id: id,
    source_ref_key: dataset === null ? null : `source_ref:v1:${dataset.id}:${documentId}`,
    data_id: documentId,
    chunk_id: id,
    chunk_index: chunkIndex,
    document_name: documentName,
  };
}

function ends({ source, target, relation, text }: CitedFact) {
  return { source_node_id: source.id, target_node_id: target.id, relationship_name: relation, label: text };
}
