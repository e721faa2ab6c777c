import { createGate } from '../../common/platform/async/gate.ts';
import type { Retriever } from './retrieval.ts';

/** At most `limit` retrievals at the same time, the others in order. */
export function boundRetrievals(retriever: Retriever, limit: number): Retriever {
  const gate = createGate(limit);
  return {
    retrieve: (request) =>
      gate(async () => {
        request.signal?.throwIfAborted();
        return retriever.retrieve(request);
      }),
  };
}
