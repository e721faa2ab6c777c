import { NODE_TYPES } from '../../common/domain/index-rows.ts';

interface BuildStep {
  /** The task of cognify that makes nodes of the type. */
  readonly task: string;
  /** Steps from the document to the node; 0 where it comes from no one document. */
  readonly rank: number;
}

const EXTRACTION: BuildStep = { task: 'extract_graph_from_data', rank: 0 };
const STEPS: Readonly<Record<string, BuildStep>> = {
  [NODE_TYPES.document]: { task: 'classify_documents', rank: 1 },
  [NODE_TYPES.nodeSet]: { task: 'classify_documents', rank: 1 },
  [NODE_TYPES.chunk]: { task: 'extract_chunks_from_documents', rank: 2 },
  [NODE_TYPES.summary]: { task: 'extract_graph_and_summarize', rank: 3 },
};

/** Returns the step of cognify that makes nodes of a type. */
export function buildStep(type: string): BuildStep {
  return STEPS[type] ?? EXTRACTION;
}
