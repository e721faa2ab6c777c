import { majorityType, typeWeight } from '../../common/domain/graph/entity-type.ts';
import { type EntityPayload, RELATIONS, STRUCTURAL_RELATIONS } from '../../common/domain/index-rows.ts';
import { scopeOf } from '../../common/kernel/dataset.ts';
import { edgeId } from '../../common/kernel/ids.ts';
import type { EdgeEvidence } from '../../common/storage/ports/graph-store.ts';
import { tokenizeQuery } from '../../common/text/language/tokenize.ts';
import type { RankedPassage, TimeView } from '../model.ts';
import { type LearnedWeights, statementFactor } from '../retrieval/learned-weights.ts';
import type { KnowledgeLimits, Retrieval, RetrievalDependencies, SearchedDataset } from '../retrieval/retrieval.ts';
import { currentEdges, currentEntityRows, type StatementView } from '../retrieval/superseded-statements.ts';
import type { Visibility } from '../retrieval/visibility.ts';
import { countShared } from '../retrieval/word-coverage.ts';

export interface KnownEntity {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  readonly description: string;
}

/** A relation between two entities, with the sentence that states it. */
export interface Fact {
  readonly id: string;
  readonly source: KnownEntity;
  readonly target: KnownEntity;
  readonly relation: string;
  readonly text: string;
  /** The passage that states it; null when unknown. */
  readonly chunkId: string | null;
}

/** The part of the graph around the passages of an answer. */
export interface Knowledge {
  /** Entities that the query names, those that link passages, then the most mentioned ones. */
  readonly entities: readonly KnownEntity[];
  /** Facts of the passages first, then others of the entities; those that share words with the query lead. */
  readonly facts: readonly Fact[];
  /** The main entity of each passage: passage id to entity id. */
  readonly keyEntity: ReadonlyMap<string, string>;
}

const ENTITIES_PER_PASSAGE = 16;
const FACTS_PER_ENTITY = 16;
const BEST_PASSAGES = 2;

/** Maximum rows read of one entity, whose descriptions and types are merged: it has a row in every document that names it. */
const ROWS_PER_ENTITY = 64;

/** Passages that the graph is read around, with what their retrieval has read already. */
export interface KnowledgeInput {
  readonly passages: readonly {
    readonly id: string;
    readonly explanation: Pick<RankedPassage['explanation'], 'via'>;
  }[];
  readonly retrieval: Pick<Retrieval, 'visibility' | 'learned' | 'mentions'> & {
    readonly named: readonly Pick<Retrieval['named'][number], 'entityId'>[];
  };
  readonly query: string;
  readonly view: TimeView;
}

/** Reads the knowledge around passages, here or in a thread that holds the data. */
export type KnowledgeReader = (
  dataset: SearchedDataset,
  found: KnowledgeInput,
  limits: KnowledgeLimits,
) => Promise<Knowledge>;

type KnowledgeDependencies = Pick<RetrievalDependencies, 'indexes' | 'supersessions'>;

export async function knowledgeAround(
  deps: KnowledgeDependencies,
  dataset: SearchedDataset,
  found: KnowledgeInput,
  limits: KnowledgeLimits,
): Promise<Knowledge> {
  if (found.passages.length === 0) return { entities: [], facts: [], keyEntity: new Map() };
  const { visibility } = found.retrieval;
  const mentions = await mentionsOf(deps, dataset, found, visibility);
  const worth = entityScores(found, mentions);
  const chosen = [...worth].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).slice(0, limits.entities);
  const ids = chosen.map(([id]) => id);
  const shown = { visibility, view: found.view };
  const near = [...new Set([...ids, ...entitiesOfBest(found.passages, mentions)])];
  const edges = await currentEdges(deps, dataset, await statements(deps, dataset, near, visibility), shown);
  const best = bestStatements(edges, found, limits.facts, await learnedOf(edges, found.retrieval));
  const ends = best.flatMap((edge) => [edge.source, edge.target]);
  const known = await entitiesById(deps, dataset, [...new Set([...ids, ...ends])], shown);
  return {
    entities: ids.flatMap((id) => known.get(id) ?? []),
    facts: best.flatMap((edge) => factOf(edge, known)),
    keyEntity: keyEntities(found.passages, mentions, worth),
  };
}

/** Returns the entities of the passages. Retrieval has already read those of the strongest ones. */
async function mentionsOf(
  deps: KnowledgeDependencies,
  dataset: SearchedDataset,
  found: Pick<KnowledgeInput, 'passages' | 'retrieval'>,
  visibility: Visibility,
): Promise<readonly EdgeEvidence[]> {
  const wanted = new Set(found.passages.map((passage) => passage.id));
  const known = found.retrieval.mentions.filter((edge) => wanted.has(edge.source));
  for (const edge of known) wanted.delete(edge.source);
  if (wanted.size === 0) return known;
  const options = { relations: [RELATIONS.contains], direction: 'out' as const, limitPerNode: ENTITIES_PER_PASSAGE };
  const edges = await deps.indexes.graph.neighbours(scopeOf(dataset), [...wanted], options);
  return [...known, ...(await visibility.filter(edges))];
}

function entityScores(
  found: Pick<KnowledgeInput, 'passages' | 'retrieval'>,
  mentions: readonly EdgeEvidence[],
): ReadonlyMap<string, number> {
  const rank = new Map(found.passages.map((passage, index) => [passage.id, index]));
  const worth = new Map<string, number>();
  const add = (id: string, value: number) => worth.set(id, (worth.get(id) ?? 0) + value);
  for (const edge of mentions) {
    const subject = edge.properties['isSubject'] === true ? 1 : 0;
    const count = Math.log(1 + Math.max(0, Number(edge.properties['mentions'] ?? 1)));
    add(edge.target, (subject + count) / (2 + (rank.get(edge.source) ?? 0)));
  }
  for (const passage of found.passages) if (passage.explanation.via !== null) add(passage.explanation.via, 2);
  for (const entity of found.retrieval.named) if (worth.has(entity.entityId)) add(entity.entityId, 10);
  return worth;
}

/** The entities of the best passages: what a hub, such as the person of all notes, says in them is read from its other end. */
function entitiesOfBest(passages: KnowledgeInput['passages'], mentions: readonly EdgeEvidence[]): readonly string[] {
  const best = new Set(passages.slice(0, BEST_PASSAGES).map(({ id }) => id));
  return mentions.filter(({ source }) => best.has(source)).map(({ target }) => target);
}

async function statements(
  deps: KnowledgeDependencies,
  dataset: SearchedDataset,
  entities: readonly string[],
  visibility: Visibility,
): Promise<readonly EdgeEvidence[]> {
  if (entities.length === 0) return [];
  const excludeRelations = [...STRUCTURAL_RELATIONS];
  const options = { excludeRelations, limitPerNode: FACTS_PER_ENTITY };
  return visibility.filter(await deps.indexes.graph.neighbours(scopeOf(dataset), entities, options));
}

async function learnedOf(
  edges: readonly EdgeEvidence[],
  { learned }: Pick<Retrieval, 'learned'>,
): Promise<LearnedWeights | null> {
  return learned === null ? null : learned([...new Set(edges.map(idOf))]);
}

/** Returns each fact once, with its best evidence: from a passage of the answer, sharing words with the query. */
function bestStatements(
  edges: readonly EdgeEvidence[],
  found: Pick<KnowledgeInput, 'passages' | 'query'>,
  limit: number,
  learned: LearnedWeights | null,
): readonly EdgeEvidence[] {
  const countTerms = countShared(tokenizeQuery(found.query));
  const rank = new Map(found.passages.map((passage, index) => [passage.id, index]));
  // Several facts are stated by one sentence.
  const sharedOf = new Map<string, number>();
  const scored = edges.map((edge) => {
    const place = rank.get(String(edge.properties['chunkId'] ?? ''));
    const text = textOf(edge);
    const shared = sharedOf.get(text) ?? countTerms(text);
    sharedOf.set(text, shared);
    const id = idOf(edge);
    const factor = learned === null ? 1 : statementFactor(id, learned);
    return { id, edge, score: (shared + (place === undefined ? 0 : 2 / (1 + place))) * factor };
  });
  scored.sort((a, b) => b.score - a.score || b.edge.weight - a.edge.weight || (a.id < b.id ? -1 : 1));
  const kept = new Map<string, EdgeEvidence>();
  for (const { id, edge } of scored) {
    if (kept.size >= limit) break;
    if (!kept.has(id)) kept.set(id, edge);
  }
  return [...kept.values()];
}

async function entitiesById(
  deps: KnowledgeDependencies,
  dataset: SearchedDataset,
  ids: readonly string[],
  shown: StatementView,
): Promise<ReadonlyMap<string, KnownEntity>> {
  if (ids.length === 0) return new Map();
  const found = await shown.visibility.filter(
    await deps.indexes.text.fetch(scopeOf(dataset), 'entity', ids, { perId: ROWS_PER_ENTITY }),
  );
  const rows = await currentEntityRows(deps, dataset, found, shown);
  const byId = Map.groupBy(rows, (row) => row.id);
  return new Map(
    [...byId].map(([id, found]) => [
      id,
      mergedEntity(
        id,
        found.map(({ payload }) => payload as EntityPayload),
      ),
    ]),
  );
}

/** Merges the rows of an entity: name and description of the row with the longest description, type by majority. */
function mergedEntity(id: string, rows: readonly EntityPayload[]): KnownEntity {
  const { name, description } = rows.reduce((best, row) =>
    row.description.length > best.description.length ? row : best,
  );
  const weights = new Map<string, number>();
  for (const { type, typeCertainty: certainty } of rows)
    weights.set(type, (weights.get(type) ?? 0) + typeWeight({ name, type, mentions: 1, certainty }));
  return { id, name, type: majorityType(weights), description };
}

function factOf(edge: EdgeEvidence, known: ReadonlyMap<string, KnownEntity>): readonly Fact[] {
  const source = known.get(edge.source);
  const target = known.get(edge.target);
  if (source === undefined || target === undefined) return [];
  const chunkId = edge.properties['chunkId'];
  return [
    {
      id: idOf(edge),
      source,
      target,
      relation: edge.relation,
      text: textOf(edge) || `${source.name} ${edge.relation.replaceAll('_', ' ')} ${target.name}`,
      chunkId: typeof chunkId === 'string' ? chunkId : null,
    },
  ];
}

function keyEntities(
  passages: KnowledgeInput['passages'],
  mentions: readonly EdgeEvidence[],
  worth: ReadonlyMap<string, number>,
): ReadonlyMap<string, string> {
  const key = new Map<string, string>();
  for (const { source, target } of mentions) {
    const before = key.get(source);
    if (before === undefined || (worth.get(target) ?? 0) > (worth.get(before) ?? 0)) key.set(source, target);
  }
  for (const passage of passages) if (passage.explanation.via !== null) key.set(passage.id, passage.explanation.via);
  return key;
}

function idOf(edge: EdgeEvidence): string {
  return edgeId(edge.source, edge.relation, edge.target);
}

function textOf(edge: EdgeEvidence): string {
  const { edgeText, text } = edge.properties;
  if (typeof text === 'string' && text !== '') return text;
  return typeof edgeText === 'string' ? edgeText : '';
}
