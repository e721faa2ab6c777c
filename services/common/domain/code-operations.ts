/** Operations on the graph of code of a dataset, with which search type CODE is asked. */
export const CODE_OPERATIONS = [
  'ask',
  'impact_analysis',
  'neighbors',
  'find_path',
  'query_facts',
  'explore',
  'traverse',
  'subgraph',
  'search',
  'flows',
  'hubs',
  'architecture',
  'capabilities',
  'insights',
  'delta',
] as const;

export type CodeOperation = (typeof CODE_OPERATIONS)[number];
