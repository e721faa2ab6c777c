import { type ChangePage, graphqlPages, type PresentDocument, type SourceAccess } from './connector.ts';
import { type GithubApi, PER_PAGE } from './github-api.ts';
import type { Listing } from './github-discussions.ts';

const DAY_MS = 86_400_000;

/** Issues and pull requests of repositories. */
export function createIssues({ ask, askGraphql, found, all, repositoryOf }: GithubApi) {
  /**
   * `since` is inclusive, and many issues may change in one second: the page counts within it. Deleted ones are no change: once a
   * day all are listed, for webhooks that were missed.
   */
  async function* issuesSince(access: SourceAccess, repository: string, from: IssueCursor): AsyncGenerator<ChangePage> {
    let { since, page } = from;
    const isFirst = since === null;
    const wholeAt = isFirst ? new Date().toISOString() : from.wholeAt;
    for (;;) {
      const query = { state: 'all', sort: 'updated', direction: 'asc', per_page: PER_PAGE, page };
      const path = `/repositories/${repository}/issues`;
      const issues = await ask<readonly Issue[]>(access, path, { ...query, ...(since === null ? {} : { since }) });
      const last = issues.at(-1)?.updated_at ?? since;
      const isLast = issues.length < PER_PAGE;
      page = isLast || last !== since ? 1 : page + 1;
      since = last;
      const present = issues.map(({ number, updated_at: version }) => ({ key: String(number), version }));
      const isDue = wholeAt === undefined || Date.now() - Date.parse(wholeAt) >= DAY_MS;
      yield { present, gone: [], cursor: { since, page, ...(wholeAt === undefined ? {} : { wholeAt }) } };
      if (isLast && isDue) yield* allIssues(access, repository, since);
      if (isLast) return;
    }
  }

  /** In the order in which they were opened, by cursors: nothing that happens meanwhile has one passed over. */
  async function* allIssues(access: SourceAccess, repository: string, since: string | null) {
    const { node_id: id } = await repositoryOf(access, repository);
    const wholeAt = new Date().toISOString();
    for (const kind of ['issues', 'pullRequests'] as const) {
      const query = `query ($id: ID!, $after: String) { node(id: $id) { ... on Repository { listed: ${kind}(
        first: 100, after: $after, orderBy: { field: CREATED_AT, direction: ASC }
      ) { totalCount pageInfo { hasNextPage endCursor } nodes { number updatedAt } } } } }`;
      const read = async (after: string | null) => {
        const answer = await askGraphql<ListedIssues>(access, query, { id, after });
        if (!answer?.node) throw new Error('GitHub does not show the issues of the repository.');
        return answer.node.listed;
      };
      for await (const { nodes, pageInfo } of graphqlPages(read)) {
        const present = nodes.map(({ number, updatedAt: version }) => ({ key: String(number), version }));
        const isEnd = !pageInfo.hasNextPage && kind === 'pullRequests';
        const whole = isEnd ? { isWhole: true as const } : {};
        yield { present, gone: [], cursor: { since, page: 1, ...(isEnd ? { wholeAt } : {}) }, ...whole };
      }
    }
  }

  const issueDocument = async (access: SourceAccess, { resource, key }: PresentDocument) => {
    const path = `/repositories/${resource}/issues/${key}`;
    const issue = await found<Issue>(access, path);
    if (issue === null) return null;
    const comments = await all<Comment>(access, `${path}/comments`);
    const reviews =
      issue.pull_request === undefined
        ? []
        : await all<Comment>(access, `/repositories/${resource}/pulls/${key}/comments`);
    const said = [...comments, ...reviews].toSorted((one, other) => (one.created_at < other.created_at ? -1 : 1));
    return {
      fileName: `${issue.title.replaceAll(/[\\/]/g, ' ')} (#${key}).md`,
      mimeType: 'text/markdown',
      content: Buffer.from(issueText(issue, said)),
      version: issue.updated_at,
      uri: issue.html_url,
    };
  };
  return { changes: issuesSince, document: issueDocument };
}

export type IssueCursor = { readonly since: string | null; readonly page: number; readonly wholeAt?: string };
interface ListedIssues {
  readonly node: { readonly listed: Listing<Pick<Issue, 'number'> & { readonly updatedAt: string }> } | null;
}

export interface Person {
  readonly login: string;
}

interface Comment {
  readonly user: Person | null;
  readonly body: string | null;
  readonly created_at: string;
  readonly path?: string;
}

interface Issue extends Comment {
  readonly number: number;
  readonly title: string;
  readonly state: string;
  readonly labels: readonly (string | { readonly name?: string })[];
  readonly assignees?: readonly Person[] | null;
  readonly milestone?: { readonly title: string } | null;
  readonly closed_at: string | null;
  readonly updated_at: string;
  readonly html_url: string;
  readonly pull_request?: { readonly merged_at?: string | null };
}

/** An issue or pull request as one document, with everything that was said. */
function issueText(issue: Issue, comments: readonly Comment[]): string {
  const { number, title, state, pull_request: pull, labels, assignees, milestone, closed_at: closedAt } = issue;
  const names = labels
    .map((label) => (typeof label === 'string' ? label : (label.name ?? '')))
    .filter((name) => name !== '');
  const facts = [
    `${pull === undefined ? 'Issue' : 'Pull request'} #${number}, ${pull?.merged_at ? 'merged' : state}.`,
    `Opened by ${issue.user?.login ?? 'a former user'} on ${issue.created_at.slice(0, 10)}.`,
    ...(closedAt === null ? [] : [`Closed on ${closedAt.slice(0, 10)}.`]),
    ...(names.length === 0 ? [] : [`Labels: ${names.join(', ')}.`]),
    ...(assignees?.length ? [`Assigned to ${assignees.map(({ login }) => login).join(', ')}.`] : []),
    ...(milestone ? [`Milestone: ${milestone.title}.`] : []),
  ];
  const said = comments.map(({ user, created_at: at, body, path }) => {
    const where = path === undefined ? '' : ` about ${path}`;
    return `## ${user?.login ?? 'A former user'} on ${at.slice(0, 10)}${where}\n\n${body ?? ''}`;
  });
  return [`# ${title}`, facts.join(' '), issue.body ?? '', ...said].filter((part) => part !== '').join('\n\n');
}
