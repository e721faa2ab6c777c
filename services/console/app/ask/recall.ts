import type { SearchType } from '../../../client/index.ts';
import { engram } from '../api.ts';

interface Lane {
  readonly rank: number;
  readonly score: number;
}

/** A passage of an answer. */
interface Passage {
  readonly chunk_id: string;
  readonly document_id: string;
  readonly document_name: string;
  /** Label of the document with heading path and page. */
  readonly source: string;
  readonly chunk_index: number;
  readonly text: string;
}

/** A passage, and why it was found. */
export interface Explanation extends Passage {
  readonly relevance: number;
  readonly lanes: Readonly<Record<string, Lane>>;
  readonly fusion_score: number;
  readonly own_score: number;
  readonly evidence_score: number;
  readonly completed_by: string | null;
  readonly via_entity: string | null;
}

export interface Finding {
  readonly source: string;
  readonly kind?: string;
  readonly text: string;
  readonly score?: number | null;
  readonly search_type?: string;
  readonly dataset_id?: string | null;
  readonly dataset_name?: string | null;
  readonly metadata?: {
    readonly explain?: readonly Passage[] | Explanation;
    readonly data_id?: string;
    readonly chunk_id?: string;
    readonly document_name?: string;
    /** Quotes that come nearest to a question that is not answered. */
    readonly nearest?: readonly string[];
  };
}

interface Question {
  readonly query: string;
  readonly datasetIds: readonly string[];
  readonly searchType: SearchType | null;
  readonly sessionId: string;
}

interface Listener {
  onStage(stage: string): void;
  /** The answer as far as it is written. */
  onText(text: string): void;
}

/** Asks, and reads the events of the answer as they come. */
export async function ask(question: Question, listener: Listener, signal: AbortSignal): Promise<readonly Finding[]> {
  const { query, datasetIds, ...rest } = question;
  const events = engram.recallStream(query, {
    ...rest,
    ...(datasetIds.length === 0 ? {} : { datasetIds: [...datasetIds] }),
    scope: 'graph',
    explain: true,
    call: { signal },
  });
  let written = '';
  for await (const event of events) {
    if (event.type === 'stage') listener.onStage(event.stage);
    if (event.type === 'final') return event.results as readonly Finding[];
    if (event.type === 'delta') written += event.text;
    if (event.type === 'reset') written = '';
    if (event.type === 'delta' || event.type === 'reset') listener.onText(written);
  }
  return [];
}

/** A passage that an answer rests on. */
export interface Source {
  readonly id: string;
  readonly dataset: string;
  readonly item: string;
  readonly document: string;
  readonly text: string;
  /** The sentence of the passage that the answer repeats. */
  readonly quoted: string | null;
  readonly why: Explanation | null;
}

const plain = (text: string): string => text.replaceAll(/\s+/gu, ' ').trim();

/** The passages of a result, those that the answer quotes first. */
export function sourcesOf({ text, dataset_id: dataset, metadata = {} }: Finding): readonly Source[] {
  const { explain } = metadata;
  if (!Array.isArray(explain)) return [];
  const quotes = [...text.matchAll(/["“]([^"“”]{15,})["”]/gu)].map(([, quote = '']) => plain(quote));
  const sources = (explain as readonly Passage[]).map((found): Source => {
    const passage = plain(found.text ?? '');
    const quoted = quotes.find((quote) => passage.includes(quote)) ?? null;
    return {
      id: found.chunk_id,
      dataset: dataset ?? '',
      item: found.document_id,
      document: found.source,
      text: found.text ?? '',
      quoted,
      // Answers that were asked without reasons have none.
      why: 'lanes' in found ? (found as Explanation) : null,
    };
  });
  return sources.toSorted((one, other) => Number(other.quoted !== null) - Number(one.quoted !== null));
}

/** A result that is itself a passage. */
export function passageOf({ text, dataset_id: dataset, metadata = {} }: Finding): Source | null {
  const { data_id: item, document_name: document, chunk_id: id, explain } = metadata;
  if (item === undefined || id === undefined) return null;
  const why = explain === undefined || Array.isArray(explain) ? null : (explain as Explanation);
  return {
    id,
    item,
    text,
    why,
    dataset: dataset ?? '',
    document: why?.source ?? document ?? 'Document',
    quoted: null,
  };
}
