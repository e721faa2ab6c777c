import type { Supersessions } from '../../common/records/cognify/supersessions.ts';
import type { RankedPassage, Retrieval, RetrievalRequest, Retriever } from '../retrieval/retrieval.ts';
import { type RetiredStatements, retiredAmong, tellsAnything } from './retired-statements.ts';
import { CURRENT } from './time-view.ts';

/**
 * Leaves statements out that newer ones have replaced (or, as of a time, that came after it): sentences disappear from
 * their passages, and passages that said nothing else make room for the next. What no supersession touches is handed on as
 * it is.
 */
export function createCurrentRetriever(
  retriever: Retriever,
  supersessions: Pick<Supersessions, 'ofChunks'>,
): Retriever {
  const lookUp = ({ passages, visibility }: Retrieval, request: RetrievalRequest) => {
    const chunks = passages.map(({ id }) => id);
    return retiredAmong({ supersessions, visibility }, request.scope, chunks, request.view ?? CURRENT);
  };
  return {
    async retrieve(request) {
      const retrieval = await retriever.retrieve(request);
      const retired = await lookUp(retrieval, request);
      if (retired.isEmpty) return retrieval;
      const passages = told(retrieval.passages, retired);
      const missing = retrieval.passages.length - passages.length;
      if (missing === 0 || retrieval.passages.length < request.limit) return { ...retrieval, passages };
      const wider = await retriever.retrieve({ ...request, limit: request.limit + 2 * missing });
      const left = told(wider.passages, await lookUp(wider, request));
      return { ...wider, passages: left.slice(0, request.limit) };
    },
  };
}

function told(passages: readonly RankedPassage[], retired: RetiredStatements): readonly RankedPassage[] {
  return passages.flatMap((passage) => {
    const statements = retired.marksOf(passage.id);
    if (statements.length === 0) return [passage];
    const text = retired.textOf(passage.id, passage.payload.text);
    if (!tellsAnything(text)) return [];
    const explanation = { ...passage.explanation, statements };
    if (text === passage.payload.text) return [{ ...passage, explanation }];
    const payload = { ...passage.payload, text };
    return [{ ...passage, payload, row: { ...passage.row, payload }, explanation }];
  });
}
