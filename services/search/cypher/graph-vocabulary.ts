import { NODE_TYPES } from '../../common/domain/index-rows.ts';
import type { GraphQuery } from './graph-query.ts';

/** The names that queries over a dataset can use, most used first; a sample of a large graph. */
export interface GraphVocabulary {
  readonly labels: readonly { readonly label: string; readonly properties: readonly string[] }[];
  /** Ends may have no label: ''. */
  readonly relations: readonly { readonly source: string; readonly relation: string; readonly target: string }[];
  /** What entities are: names of the `EntityType` nodes. */
  readonly entityTypes: readonly string[];
}

/** Nodes and relationships that are looked at, and names that are given to a model. */
const SAMPLED_NODES = 20_000;
const SAMPLED_RELATIONS = 100_000;
const MAX_PROPERTIES = 200;
const MAX_RELATIONS = 100;
const MAX_ENTITY_TYPES = 50;
/** Names that come from texts are cut; they have to fit a prompt. */
const MAX_NAME_LENGTH = 80;

/** One question to the store, in the same guarded Cypher that clients have. */
const VOCABULARY = `
  MATCH (n) WITH n LIMIT ${SAMPLED_NODES} UNWIND labels(n) AS label UNWIND keys(n) AS key
  RETURN 'property' AS kind, label AS source, key AS name, null AS target, count(*) AS uses
  ORDER BY uses DESC, source, name LIMIT ${MAX_PROPERTIES}
  UNION ALL
  MATCH (a)-[r]->(b) WITH a, r, b LIMIT ${SAMPLED_RELATIONS}
  RETURN 'relation' AS kind, head(labels(a)) AS source, type(r) AS name, head(labels(b)) AS target, count(*) AS uses
  ORDER BY uses DESC, name LIMIT ${MAX_RELATIONS}
  UNION ALL
  MATCH (n:${NODE_TYPES.entityType})
  RETURN 'entityType' AS kind, null AS source, n.name AS name, null AS target, max(n.mentions) AS uses
  ORDER BY uses DESC, name LIMIT ${MAX_ENTITY_TYPES}`;

export async function readVocabulary(query: GraphQuery): Promise<GraphVocabulary> {
  const { rows } = await query(VOCABULARY);
  const names = rows.map(([kind, ...rest]) => [kind, ...rest.slice(0, 3).map(nameOf)] as const);
  const properties = new Map<string, string[]>();
  for (const [kind, source = '', name = ''] of names) {
    if (kind === 'property') properties.set(source, [...(properties.get(source) ?? []), name]);
  }
  return {
    labels: [...properties].map(([label, keys]) => ({ label, properties: keys })),
    relations: names.flatMap(([kind, source = '', relation = '', target = '']) =>
      kind === 'relation' ? [{ source, relation, target }] : [],
    ),
    entityTypes: names.flatMap(([kind, , name = '']) => (kind === 'entityType' ? [name] : [])),
  };
}

function nameOf(value: unknown): string {
  return typeof value === 'string' ? value.slice(0, MAX_NAME_LENGTH) : '';
}
