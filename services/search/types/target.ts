import type { DatasetRef } from '../../common/kernel/dataset.ts';
import type { Messenger } from '../../common/platform/messaging/messenger.ts';
import type { KnowledgeReader } from '../answers/knowledge.ts';
import type { QuoteReader } from '../answers/quotes.ts';
import type { Conversation, ConversationDependencies } from '../conversation/conversation.ts';
import type { InfluenceOptions } from '../retrieval/learned-weights.ts';
import type { QueryVector } from '../retrieval/retrieve-passages.ts';
import type { AnsweredType } from '../search-types.ts';
import type { CodeGraphs } from './code/code-graph.ts';
import type { SkillIndex } from './skill-index.ts';
import type { SourceUsers } from './source-users.ts';

/** Dependencies of the search types. */
export interface TypeDependencies extends ConversationDependencies {
  readonly messenger: Messenger;
  readonly skills: SkillIndex;
  readonly codeGraphs: CodeGraphs;
  readonly knowledge: KnowledgeReader;
  readonly quotes: QuoteReader;
  readonly sourceUsers: SourceUsers;
  /** Error text when the configured language model lacks its key. */
  readonly missingModelKey: string | null;
}

export interface SearchTarget {
  readonly dataset: DatasetRef;
  readonly type: AnsweredType;
  readonly vector: QueryVector;
  /** The conversation of the question; only for completions. */
  readonly conversation: Conversation | null;
  readonly influence: InfluenceOptions;
  /** Other datasets are asked the same: sources name their dataset. */
  readonly isOneOfSeveral: boolean;
}
