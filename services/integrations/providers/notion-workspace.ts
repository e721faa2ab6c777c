import type { APIResponseError, Client, DataSourceObjectResponse, PageObjectResponse } from '@notionhq/client';
import { nullIf } from '../../common/platform/async/null-if.ts';
import { richText, titleOf } from './notion-markdown.ts';

export const PER_PAGE = 100;

/** Carries out a request with the client of an import. */
export type Ask = <T>(work: (client: Client) => Promise<T>) => Promise<T>;

export type Properties = PageObjectResponse['properties'];

/** A page, or a database with its rows. */
export interface Node {
  readonly id: string;
  readonly kind: 'page' | 'database';
  /** Null: it is at the top of the workspace. */
  readonly parent: string | null;
  readonly title: string;
  readonly url: string;
  readonly edited: string;
  /** Of a row that is about to be fetched. */
  readonly properties?: Properties;
}

export interface Workspace {
  readonly nodes: ReadonlyMap<string, Node>;
  /** By what is at the top: itself and everything below. */
  readonly tops: ReadonlyMap<string, readonly Node[]>;
  /** Whether Notion gave everything. */
  readonly isComplete: boolean;
  /** The rows that were listed last. */
  rows: ReadonlyMap<string, Node>;
}

/** Null for what is not there, or not shared any more. */
export function found<T>(asked: Promise<T>): Promise<T | null> {
  return nullIf(isMissing, asked);
}

export function isMissing(error: unknown): boolean {
  return ['object_not_found', 'restricted_resource'].includes((error as APIResponseError).code);
}

export async function relationsOf(ask: Ask, page: string, property: string): Promise<{ id: string }[]> {
  const relations: { id: string }[] = [];
  for (let cursor: string | undefined; ; ) {
    const asked = {
      page_id: page,
      property_id: property,
      page_size: PER_PAGE,
      ...(cursor && { start_cursor: cursor }),
    };
    const answer = await ask((client) => client.pages.properties.retrieve(asked));
    if (answer.object !== 'list') return relations;
    relations.push(...answer.results.flatMap((one) => (one.type === 'relation' ? [one.relation] : [])));
    if (answer.next_cursor === null) return relations;
    cursor = answer.next_cursor;
  }
}

/** Everything that is shared with the integration, by what it is below; documents themselves are not read. */
export async function listWorkspace(ask: Ask): Promise<Workspace> {
  const { isFullPage, isFullDataSource } = await import('@notionhq/client');
  const nodes = new Map<string, Node>();
  /** Parents that are blocks or databases, which the list does not name. */
  const via = new Map<string, string | null>();
  /** Returns false when Notion did not give everything. */
  const list = async (value: 'data_source' | 'page', direction: 'ascending' | 'descending'): Promise<boolean> => {
    const sort = { timestamp: 'last_edited_time', direction } as const;
    const asked = { filter: { property: 'object' as const, value }, sort, page_size: PER_PAGE };
    for (let cursor: string | undefined, isWhole = true; ; ) {
      const answer = await ask((client) => client.search({ ...asked, ...(cursor && { start_cursor: cursor }) }));
      for (const one of answer.results) {
        if (isFullDataSource(one) && !one.in_trash) nodes.set(one.id, nodeOfDatabase(one));
        else if (isFullPage(one) && !one.in_trash) nodes.set(one.id, nodeOfPage(one));
      }
      if (answer.request_status?.type === 'incomplete') isWhole = false;
      if (answer.next_cursor === null) return isWhole;
      cursor = answer.next_cursor;
    }
  };
  let isComplete = true;
  for (const value of ['data_source', 'page'] as const) {
    if (await list(value, 'ascending')) continue;
    isComplete = false;
    // What changed last is at the other end.
    await list(value, 'descending');
  }
  const tops = new Map<string, Node[]>();
  for (const node of nodes.values()) {
    let top = node;
    for (const seen = new Set([node.id]); top.parent !== null; ) {
      const above = await parentNode(ask, nodes, via, top.parent);
      if (above === null || seen.has(above.id)) break;
      seen.add(above.id);
      top = above;
    }
    const below = tops.get(top.id);
    if (below === undefined) tops.set(top.id, [node]);
    else below.push(node);
  }
  return { nodes, tops, isComplete, rows: new Map() };
}

/** The page or database that something is in. Null: it is not shared with the integration. */
async function parentNode(ask: Ask, nodes: ReadonlyMap<string, Node>, via: Map<string, string | null>, parent: string) {
  for (let id: string | null = parent; id !== null; ) {
    const node = nodes.get(id);
    if (node !== undefined) return node;
    if (!id.startsWith(BLOCK)) return null;
    const block: string = id.slice(BLOCK.length);
    const known: string | null | undefined = via.get(block);
    if (known !== undefined) {
      id = known;
      continue;
    }
    const retrieved = await found(ask((client) => client.blocks.retrieve({ block_id: block })));
    id = retrieved !== null && 'parent' in retrieved ? parentOf(retrieved.parent) : null;
    via.set(block, id);
  }
  return null;
}

/** Marks a parent that is a block within a page. */
const BLOCK = 'block:';

type Parent = PageObjectResponse['parent'] | DataSourceObjectResponse['database_parent'];

function parentOf(parent: Parent): string | null {
  switch (parent.type) {
    case 'page_id':
      return parent.page_id;
    case 'data_source_id':
      return parent.data_source_id;
    case 'database_id':
      return parent.database_id;
    case 'block_id':
      return `${BLOCK}${parent.block_id}`;
    default:
      return null;
  }
}

function nodeOfDatabase({
  id,
  title,
  database_parent: parent,
  url,
  last_edited_time: edited,
}: DataSourceObjectResponse): Node {
  return { id, kind: 'database', parent: parentOf(parent), title: richText(title), url, edited };
}

export function nodeOfPage(page: PageObjectResponse, { withProperties = false } = {}): Node {
  const { id, parent, properties, url, last_edited_time: edited } = page;
  const facts = withProperties ? { properties } : {};
  return { id, kind: 'page', parent: parentOf(parent), title: titleOf(properties), url, edited, ...facts };
}
