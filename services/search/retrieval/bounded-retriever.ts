import { createConcurrencyLimit } from '../../common/platform/async/concurrency-limit.ts';
import type { Retriever } from './retrieval.ts';

/** At most `limit` retrievals at the same time, the others in order. */
export function boundRetrievals(retriever: Retriever, limit: number): Retriever {
  const gate = createConcurrencyLimit(limit);
  return {
    retrieve: (request) =>
      gate(async () => {
        request.signal?.throwIfAborted();
        return retriever.retrieve(request);
      }),
  };
}
