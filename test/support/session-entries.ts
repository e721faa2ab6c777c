import type { NewQa, NewTrace } from '../../services/common/domain/session.ts';

/** An answer without anything else, and a step. */
export const PLAIN_QA: NewQa = {
  question: '',
  context: '',
  answer: 'I do not know.',
  feedbackText: null,
  feedbackScore: null,
  usedGraphElements: null,
  usedContextIds: null,
};
export const PLAIN_TRACE: NewTrace = {
  originFunction: '',
  status: 'success',
  memoryQuery: '',
  memoryContext: '',
  methodParams: {},
  methodReturnValue: null,
  errorMessage: '',
  sessionFeedback: '',
};
