import type { GraphqlPage } from './connector.ts';

export type EntryPage = GraphqlPage<Entry>;
export interface PageQuery {
  readonly filter: object;
  readonly first: number;
  readonly after: string | null;
}

export interface Team {
  readonly id: string;
  readonly name: string;
  readonly key: string;
  readonly description?: string | null;
  readonly private: boolean;
}

export interface TeamMembers {
  readonly private: boolean;
  readonly members: GraphqlPage<{ readonly email: string; readonly active: boolean }>;
}

export interface Account {
  readonly viewer: { readonly id: string; readonly name: string };
  readonly organization: { readonly id: string; readonly name: string; readonly urlKey: string };
}

type Name = { readonly name: string } | null;
/** A comment of an issue, or an update of a project. */
export interface Remark {
  readonly body: string;
  readonly createdAt: string;
  readonly user: Name;
  readonly botActor?: Name;
  readonly externalUser?: Name;
  readonly health?: string;
}

/** An issue or a project. */
export interface Entry {
  readonly id: string;
  readonly updatedAt: string;
  readonly archivedAt: string | null;
  readonly trashed: boolean | null;
  readonly latest: { readonly nodes: readonly { readonly updatedAt: string }[] };
  /** Of an issue. */
  readonly team?: { readonly id: string; readonly name: string };
  readonly identifier?: string;
  readonly title: string;
  readonly url: string;
  readonly createdAt: string;
  readonly completedAt: string | null;
  readonly canceledAt: string | null;
  readonly description: string | null;
  readonly content?: string | null;
  readonly status: { readonly name: string };
  readonly person: Name;
  readonly creator: Name;
  readonly labels: { readonly nodes: readonly { readonly name: string }[] };
  readonly dueDate: string | null;
  readonly startDate?: string | null;
  readonly priorityLabel: string;
  readonly estimate?: number | null;
  readonly project?: Name;
  readonly projectMilestone?: Name;
  readonly cycle?: { readonly number: number; readonly name: string | null } | null;
  readonly parent?: { readonly identifier: string; readonly title: string } | null;
  readonly remarks: GraphqlPage<Remark>;
}

const VERSION = 'id updatedAt archivedAt trashed';
const PAGE_INFO = 'pageInfo { hasNextPage endCursor }';
const REMARK = 'body createdAt user { name }';
const COMMENTS = `nodes { ${REMARK} botActor { name } externalUser { name } } ${PAGE_INFO}`;
const UPDATES = `nodes { ${REMARK} health } ${PAGE_INFO}`;
const LATEST_COMMENT = 'latest: comments(first: 1, orderBy: updatedAt) { nodes { updatedAt } }';
const FACTS = 'url createdAt completedAt canceledAt priorityLabel creator { name }';
const ISSUE = `${VERSION} ${LATEST_COMMENT} ${FACTS} title identifier description dueDate estimate
  team { id name } status: state { name } person: assignee { name } labels(first: 20) { nodes { name } }
  project { name } projectMilestone { name } cycle { number name } parent { identifier title }
  remarks: comments(first: 10) { ${COMMENTS} }`;
const PROJECT = `${VERSION} latest: projectUpdates(first: 1, orderBy: updatedAt) { nodes { updatedAt } } ${FACTS}
  title: name description content dueDate: targetDate startDate status { name } person: lead { name }
  labels(first: 20) { nodes { name } } remarks: projectUpdates(first: 10) { ${UPDATES} }`;

export const QUERIES = {
  issues: {
    page: `query($filter: IssueFilter, $first: Int, $after: String) {
      entries: issues(filter: $filter, first: $first, after: $after, orderBy: updatedAt, includeArchived: true) {
        nodes { ${ISSUE} } ${PAGE_INFO} } }`,
    one: `query($id: String!) { entry: issue(id: $id) { ${ISSUE} } }`,
    remarks: `query($id: String!, $after: String) {
      entry: issue(id: $id) { remarks: comments(first: 50, after: $after) { ${COMMENTS} } } }`,
  },
  projects: {
    page: `query($filter: ProjectFilter, $first: Int, $after: String) {
      entries: projects(filter: $filter, first: $first, after: $after, includeArchived: true) {
        nodes { ${PROJECT} } ${PAGE_INFO} } }`,
    one: `query($id: String!) { entry: project(id: $id) { ${PROJECT} } }`,
    remarks: `query($id: String!, $after: String) {
      entry: project(id: $id) { remarks: projectUpdates(first: 50, after: $after) { ${UPDATES} } } }`,
  },
} as const;

export const ISSUE_VERSIONS = `query($filter: IssueFilter, $first: Int, $after: String) {
  entries: issues(filter: $filter, first: $first, after: $after, includeArchived: true) {
    nodes { ${VERSION} ${LATEST_COMMENT} } ${PAGE_INFO} } }`;
export const TEAMS = `query($after: String) {
  teams(first: 100, after: $after) { nodes { id name key description private } ${PAGE_INFO} } }`;
export const MEMBERS = `query($id: String!, $after: String) {
  team(id: $id) { private members(first: 100, after: $after) { nodes { email active } ${PAGE_INFO} } } }`;
export const REPLY = 'mutation($input: AgentActivityCreateInput!) { agentActivityCreate(input: $input) { success } }';
export const ACCOUNT = 'query { viewer { id name } organization { id name urlKey } }';
