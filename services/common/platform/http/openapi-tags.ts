/** The groups of operations in the order of the document: first what everybody uses, then the keeping of a server. */
const TAGS: Readonly<Record<string, string>> = {
  remember: 'Add data and build the graph from it in one call; entries of sessions',
  recall: 'Ask the graph and the sessions at once',
  add: 'Store texts, files and addresses in a dataset',
  cognify: 'Build the knowledge graph of a dataset',
  search: 'Ask datasets',
  responses: 'Ask in the form of OpenAI, with tools over memory',
  improve: 'Learn from sessions and enrich the graph',
  memify: 'Enrich the graph by named tasks',
  update: 'Replace the content of an item',
  forget: 'Erase items, datasets or everything, and count what is left',
  datasets: 'Datasets, their items, graph, state, snapshots and replaced statements',
  delete: 'The older way to delete an item',
  sessions: 'Conversations, their questions, answers, steps and costs',
  skills: 'Skills, and proposals to change them',
  ontologies: 'Files with classes and individuals that entities are matched with',
  visualize: 'The graph as a page and as data to draw',
  schema: 'What kinds of things a graph holds, and who has to do with it',
  activity: 'Runs, jobs, operations and usage',
  validate: 'Look for contradictions in what is stored',
  llm: 'Prompts and schemas written by a model',
  integrations: 'Connect sources, choose what is brought in, and follow them',
  sync: 'Bring datasets and a remote memory into step',
  auth: 'Sign in, register, tokens and API keys',
  users: 'Accounts',
  permissions: 'Tenants, roles, grants on datasets and capabilities',
  'agent management': 'Agents: accounts with a key of their own',
  'agent connections': 'Sessions that agents have registered',
  scim: 'SCIM 2.0 for the directory of a company',
  budgets: 'Limits of tenants and keys',
  audit: 'Who did what',
  settings: 'Models of the server',
  configuration: 'Settings that clients keep here',
  checks: 'Whether a remote memory can be reached',
  health: 'Whether the server runs, and its parts',
};

const ORDER = Object.keys(TAGS);

/** The tags that are used, in the order of the table; others follow by name. */
export function describeTags(
  used: Iterable<string>,
): readonly { readonly name: string; readonly description?: string }[] {
  const rank = (name: string) => (name in TAGS ? ORDER.indexOf(name) : ORDER.length);
  return [...new Set(used)]
    .sort((one, other) => rank(one) - rank(other) || one.localeCompare(other))
    .map((name) => ({ name, ...(TAGS[name] === undefined ? {} : { description: TAGS[name] }) }));
}
