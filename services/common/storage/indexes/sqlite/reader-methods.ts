import type { EdgeEvidence, NeighbourOptions, ScanQuery } from '../../ports/graph-store.ts';
import { type EntryFilter, provenanceKey } from '../../ports/index-entry.ts';
import type { CandidateQuery, TextListQuery, TextQuery } from '../../ports/text-index.ts';
import { countGraph, type PackedEdges, readNodes, scanEdges, scanNodes } from './graph-reader.ts';
import { readNeighbours } from './neighbours.ts';
import type { OpenFile, OpenFiles } from './open-files.ts';
import { readProvenance } from './origins.ts';
import type { FoundRow } from './schema.ts';
import {
  countRows,
  countText,
  type FetchQuery,
  fetchCandidates,
  fetchText,
  listText,
  type PackedTextRows,
  packRows,
  textCandidates,
} from './text-reader.ts';
import { fetchVectors, readSpace, type VectorsById } from './vector-reader.ts';

export type ReaderMethods = ReturnType<typeof createReaderMethods>;

/** What a thread gives of the rows that it reads. */
type SentRows = (rows: readonly FoundRow[]) => PackedTextRows | readonly FoundRow[];

type EdgesReader = (
  file: OpenFile,
  ids: readonly string[],
  options: NeighbourOptions,
) => PackedEdges | readonly EdgeEvidence[];

/** Every read of a dataset but the vector scan, by the path of its file. A dataset without a file answers null. */
export function createReaderMethods(
  files: OpenFiles,
  edgesAround: EdgesReader = readNeighbours,
  sent: SentRows = packRows,
) {
  function onFile<Argument, Result>(read: (file: OpenFile, argument: Argument) => Result) {
    return (path: string, argument: Argument): Result | null => files.read(path, (file) => read(file, argument));
  }
  return {
    candidates: onFile((file, query: TextQuery) => {
      const { rows, ...found } = textCandidates(file, query);
      return { ...found, rows: sent(rows) };
    }),
    fetchText: onFile((file, query: FetchQuery) => sent(fetchText(file, query))),
    fetchCandidates: onFile((file, query: CandidateQuery) => {
      const { rows, ...found } = fetchCandidates(file, query);
      return { ...found, rows: sent(rows) };
    }),
    listText: onFile((file, query: TextListQuery) => sent(listText(file, query))),
    countText: onFile((file, filter: Partial<EntryFilter>) => countText(file, filter)),
    space: onFile((file, _: null) => readSpace(file)),
    fetchVectors: onFile((file, query: VectorsById) => fetchVectors(file, query)),
    countVectors: onFile((file, filter: Partial<EntryFilter>) => countRows(file, 'vector_row', filter)),
    nodes: onFile((file, { ids, perNode }: { readonly ids: readonly string[]; readonly perNode: number }) =>
      readNodes(file, ids, perNode),
    ),
    neighbours: onFile(
      (file, { ids, options }: { readonly ids: readonly string[]; readonly options: NeighbourOptions }) =>
        edgesAround(file, ids, options),
    ),
    scanNodes: onFile((file, query: ScanQuery) => scanNodes(file, query)),
    scanEdges: onFile((file, query: ScanQuery) => scanEdges(file, query)),
    provenance: onFile((file, _: null) => readProvenance(file).map(provenanceKey)),
    countGraph: onFile((file, item: string | null) => countGraph(file, item)),
  };
}
