import type { estypes } from '@elastic/elasticsearch';

/** Reads all hits of a sorted search, `size` at a time; each page begins after the last hit of the one before. */
export async function readAllPages<Document>(
  search: (page: Pick<estypes.SearchRequest, 'size' | 'search_after'>) => Promise<estypes.SearchResponse<Document>>,
  size: number,
): Promise<readonly Document[]> {
  const found: Document[] = [];
  let after: estypes.SortResults | undefined;
  for (;;) {
    const { hits } = await search({ size, ...(after === undefined ? {} : { search_after: after }) });
    for (const { _source } of hits.hits) if (_source !== undefined) found.push(_source);
    after = hits.hits.at(-1)?.sort;
    if (hits.hits.length < size || after === undefined) return found;
  }
}
