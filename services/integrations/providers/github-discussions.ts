import type { Json } from '../../common/kernel/json.ts';
import {
  type ChangePage,
  type GraphqlPage,
  graphqlPages,
  type SourceAccess,
  type SourceDocument,
} from './connector.ts';

/** Asks GitHub's GraphQL; null: what is asked for is not there. */
type AskGraphql = <T>(
  access: SourceAccess,
  query: string,
  variables: Readonly<Record<string, unknown>>,
) => Promise<T | null>;

/** How far the discussions were read, and when they were last compared as a whole. */
type Cursor = { readonly since: string | null; readonly wholeAt: string };

const DAY_MS = 86_400_000;

const PAGE = 'pageInfo { hasNextPage endCursor }';
const LISTED = `query ($repository: ID!, $after: String, $order: DiscussionOrder!) {
  node(id: $repository) { ... on Repository {
    newest: discussions(first: 1, orderBy: { field: UPDATED_AT, direction: DESC }) { nodes { updatedAt } }
    discussions(first: 100, after: $after, orderBy: $order) {
      totalCount ${PAGE} nodes { number updatedAt comments { totalCount } }
    }
  } }
}`;
const SAID = 'body createdAt author { login }';
const REPLIES = `${PAGE} nodes { ${SAID} }`;
const DISCUSSION = `query ($repository: ID!, $number: Int!, $after: String) {
  node(id: $repository) { ... on Repository { discussion(number: $number) {
    ${SAID} title url updatedAt closed category { name } labels(first: 50) { nodes { name } }
    comments(first: 50, after: $after) {
      totalCount ${PAGE} nodes { id ${SAID} isAnswer replies(first: 100) { ${REPLIES} } }
    }
  } } }
}`;
const MORE_REPLIES = `query ($comment: ID!, $after: String) {
  node(id: $comment) { ... on DiscussionComment { replies(first: 100, after: $after) { ${REPLIES} } } }
}`;

export interface Listing<Node> extends GraphqlPage<Node> {
  readonly totalCount: number;
}
interface ListedAnswer {
  readonly node: {
    readonly newest: { readonly nodes: readonly Pick<Listed, 'updatedAt'>[] };
    readonly discussions: Listing<Listed>;
  } | null;
}
interface Listed {
  readonly number: number;
  readonly updatedAt: string;
  readonly comments: { readonly totalCount: number };
}
interface Said {
  readonly body: string;
  readonly createdAt: string;
  readonly author: { readonly login: string } | null;
}
interface Comment extends Said {
  readonly id: string;
  readonly isAnswer: boolean;
  readonly replies: Listing<Said>;
}
interface Discussion extends Said {
  readonly title: string;
  readonly url: string;
  readonly updatedAt: string;
  readonly closed: boolean;
  readonly category: { readonly name: string } | null;
  readonly labels: { readonly nodes: readonly { readonly name: string }[] } | null;
  readonly comments: Listing<Comment>;
}

const END: Listing<never> = { totalCount: 0, pageInfo: { hasNextPage: false, endCursor: null }, nodes: [] };

/** A comment that was deleted does not count as a change of its discussion. */
function versionOf({ updatedAt, comments }: Pick<Listed, 'updatedAt' | 'comments'>): string {
  return `${updatedAt} ${comments.totalCount}`;
}

/** Reads the discussions of repositories, which are named by their ids in GraphQL. */
export function createDiscussions(ask: AskGraphql) {
  /**
   * What changed is read from the last change back. Once a day everything is compared, in the order in which it was begun: what
   * changes meanwhile keeps its place there.
   */
  async function* changes(access: SourceAccess, repository: string, cursor: Json): AsyncGenerator<ChangePage> {
    const known = cursor as Cursor | null;
    const isWhole = known === null || Date.now() - Date.parse(known.wholeAt) >= DAY_MS;
    const wholeAt = isWhole ? new Date().toISOString() : known.wholeAt;
    const order = isWhole ? { field: 'CREATED_AT', direction: 'ASC' } : { field: 'UPDATED_AT', direction: 'DESC' };
    // What changes during the listing is found by the next one.
    let newest: string | null | undefined;
    const read = async (after: string | null): Promise<Listing<Listed>> => {
      const answer = await ask<ListedAnswer>(access, LISTED, { repository, after, order });
      if (!answer?.node) throw new Error('GitHub does not show the discussions of the repository.');
      newest ??= answer.node.newest.nodes[0]?.updatedAt ?? known?.since ?? null;
      return answer.node.discussions;
    };
    for await (const { nodes, pageInfo, totalCount } of graphqlPages(read)) {
      const since = isWhole ? null : known.since;
      const changed = since === null ? nodes : nodes.filter(({ updatedAt }) => updatedAt >= since);
      const isLast = !pageInfo.hasNextPage || changed.length < nodes.length;
      yield {
        present: changed.map((one) => ({ key: String(one.number), version: versionOf(one) })),
        gone: [],
        cursor: isLast ? { since: newest ?? null, wholeAt } : cursor,
        ...(isWhole ? { total: totalCount } : {}),
        ...(isWhole && isLast ? { isWhole: true as const } : {}),
      };
      if (isLast) return;
    }
  }

  const repliesOf = async (access: SourceAccess, { id, replies }: Comment): Promise<readonly Said[]> => {
    const more = async (after: string | null): Promise<Listing<Said>> => {
      if (after === null) return replies;
      const answer = await ask<{ readonly node: Pick<Comment, 'replies'> | null }>(access, MORE_REPLIES, {
        comment: id,
        after,
      });
      return answer?.node?.replies ?? END;
    };
    return (await Array.fromAsync(graphqlPages(more), ({ nodes }) => nodes)).flat();
  };

  /** A discussion as one document with all that was said in it. */
  const document = async (access: SourceAccess, repository: string, key: string): Promise<SourceDocument | null> => {
    const read = async (after: string | null): Promise<Discussion | null> => {
      const variables = { repository, number: Number(key), after };
      const answer = await ask<{ readonly node: { readonly discussion: Discussion | null } | null }>(
        access,
        DISCUSSION,
        variables,
      );
      return answer?.node?.discussion ?? null;
    };
    const found = await read(null);
    if (found === null) return null;
    const parts: string[] = [];
    const pages = graphqlPages(async (after) => (after === null ? found : await read(after))?.comments ?? END);
    for await (const { nodes } of pages) {
      for (const comment of nodes) {
        parts.push(saidText('##', comment.isAnswer ? ', the answer' : '', comment));
        for (const reply of await repliesOf(access, comment)) parts.push(saidText('###', ' in reply', reply));
      }
    }
    const { title, url } = found;
    return {
      fileName: `${title.replaceAll(/[\\/]/g, ' ')} (discussion ${key}).md`,
      mimeType: 'text/markdown',
      content: Buffer.from([...headOf(found, key), ...parts].filter((part) => part !== '').join('\n\n')),
      version: versionOf(found),
      uri: url,
    };
  };
  return { changes, document };
}

function headOf({ title, body, author, createdAt, closed, category, labels }: Discussion, key: string): string[] {
  const names = (labels?.nodes ?? []).map(({ name }) => name);
  const facts = [
    `Discussion #${key}${category === null ? '' : ` in ${category.name}`}, ${closed ? 'closed' : 'open'}.`,
    `Opened by ${author?.login ?? 'a former user'} on ${createdAt.slice(0, 10)}.`,
    ...(names.length === 0 ? [] : [`Labels: ${names.join(', ')}.`]),
  ];
  return [`# ${title}`, facts.join(' '), body];
}

function saidText(mark: string, how: string, { author, createdAt, body }: Said): string {
  return `${mark} ${author?.login ?? 'A former user'} on ${createdAt.slice(0, 10)}${how}\n\n${body}`;
}
