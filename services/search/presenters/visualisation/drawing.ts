import type { MergedEdge, MergedNode } from '../../../common/domain/graph/merge.ts';
import type { VisibleGraph } from '../../../common/domain/graph/shown.ts';
import { NODE_TYPES, RELATIONS } from '../../../common/domain/index-rows.ts';
import { dates } from '../../../common/text/language/dates.ts';
import { edgeClassOf } from './links.ts';
import { readableName } from './nodes.ts';

interface DrawnNode {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  entity_type?: string;
}

/** Indexes of its source, target and relation; the dates of the fact, where it has some. */
type DrawnLink = readonly [source: number, target: number, relation: number, dates?: readonly string[]];

interface Drawing {
  readonly nodes: readonly DrawnNode[];
  readonly relations: readonly { readonly name: string; readonly edge_class: 'structural' | 'semantic' }[];
  readonly links: readonly DrawnLink[];
}

const NAME_LENGTH = 80;
const MAX_DATES = 6;
/** An edge as it is kept until the dates of all passages are known. */
type ReadLink = readonly [source: number, target: number, relation: number, MergedEdge['properties']];

/**
 * Returns the data of a picture of a whole graph: names, types, ends and dates; no texts and no evidence. Read page
 * by page: a graph of 50,000 nodes takes about 40 MB while it is presented.
 */
export async function presentDrawing(graph: VisibleGraph): Promise<Drawing> {
  const nodes: DrawnNode[] = [];
  const places = new Map<string, number>();
  /** ISO date of the nodes that are dates. */
  const dateOf = new Map<number, string>();
  const beginnings = new Map<string, string>();
  for await (const page of graph.nodes()) {
    for (const node of page) {
      const place = nodes.length;
      places.set(node.id, place);
      nodes.push(drawnNode(node));
      const date = isoDate(node);
      if (date !== null) dateOf.set(place, date);
      const { documentId, chunkIndex, text } = node.properties;
      if (chunkIndex === 0 && typeof documentId === 'string') beginnings.set(documentId, String(text));
    }
  }
  for (const [place, { id, name, type }] of nodes.entries()) {
    if (type !== NODE_TYPES.document) continue;
    nodes[place] = { id, type, name: shortName(readableName(id, type, { name, text: beginnings.get(id) }).name) };
  }
  const relations = new Map<string, number>();
  const read: ReadLink[] = [];
  const datesOfPassage = new Map<string, string[]>();
  for await (const page of graph.edges()) {
    for (const { source, target, relation, properties } of page) {
      const [from, to] = [places.get(source), places.get(target)];
      if (from === undefined || to === undefined) continue;
      const known = relations.get(relation) ?? relations.size;
      relations.set(relation, known);
      read.push([from, to, known, properties]);
      const date = dateOf.get(to);
      if (relation === RELATIONS.contains && date !== undefined) {
        const all = datesOfPassage.get(source);
        if (all === undefined) datesOfPassage.set(source, [date]);
        else all.push(date);
      }
      const [entity, parent] = [nodes[from], nodes[to]];
      // `me is_a coffee enthusiast` leads to an entity: Me stays a person.
      if (
        relation === RELATIONS.isA &&
        parent?.type === NODE_TYPES.entityType &&
        parent.name !== '' &&
        entity !== undefined
      )
        entity.entity_type = parent.name;
    }
  }
  const names = [...relations.keys()];
  const stated = createDateReader(datesOfPassage);
  return {
    nodes,
    relations: names.map((name) => ({ name, edge_class: edgeClassOf(name) })),
    links: read.map(([from, to, relation, properties]): DrawnLink => {
      const own = dateOf.get(to);
      const found = own === undefined ? stated(properties) : [own];
      return found.length === 0 ? [from, to, relation] : [from, to, relation, found];
    }),
  };
}

function drawnNode({ id, name, type, properties }: MergedNode): DrawnNode {
  const { text, entityType } = properties;
  const label =
    type === NODE_TYPES.document ? name : readableName(id, type, { name, text: text as string | undefined }).name;
  return { id, name: shortName(label), type, ...(typeof entityType === 'string' ? { entity_type: entityType } : {}) };
}

const shortName = (name: string): string => (name.length > NAME_LENGTH ? `${name.slice(0, NAME_LENGTH - 1)}…` : name);

function isoDate({ type, name, properties }: MergedNode): string | null {
  const kind = type === NODE_TYPES.entity ? properties['entityType'] : type;
  if (typeof kind !== 'string' || !/^(date|timestamp)$/i.test(kind)) return null;
  return /^\d{4}(-\d\d(-\d\d)?)?\b/.exec(name)?.[0] ?? null;
}

/** Returns the dates of an edge: its own properties, those that its sentence names, or of an edge without a sentence those of its passage. */
function createDateReader(
  datesOfPassage: ReadonlyMap<string, readonly string[]>,
): (properties: MergedEdge['properties']) => readonly string[] {
  const known = new Map<string, readonly string[]>();
  return ({ chunkId, text, ...properties }) => {
    const { validFrom: from, validTo: until } = properties;
    if (typeof from === 'string' || typeof until === 'string')
      return [typeof from === 'string' && from === until ? from : `${from ?? ''}/${until ?? ''}`];
    const passage = datesOfPassage.get(String(chunkId)) ?? [];
    if (typeof text !== 'string') return passage.slice(0, MAX_DATES);
    // Reading dates takes time: a sentence without a year of its passage names none.
    if (!passage.some((date) => text.includes(date.slice(0, 4)))) return [];
    const read = known.get(text) ?? dates(text).map(({ name }) => name);
    known.set(text, read);
    return read.slice(0, MAX_DATES);
  };
}
