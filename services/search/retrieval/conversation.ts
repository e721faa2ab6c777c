import { beginsWithTurn } from '../../common/text/language/turns.ts';
import type { Candidate } from './candidates.ts';

/** Turns this far from each other speak about the same. */
const WINDOW = 6;
/** Two results are further apart than this while there are others. */
const APART = 5;
/** Fewer passages say nothing about what a dataset holds. */
const MIN_TURNS = 5;
const TURN_SHARE = 0.7;
/** Tokens of a turn; a longer passage holds its own context. */
const LONGEST_TURN = 150;
const NUMBER = /\d+(?=\D*$)/u;

/** A passage in the order of its conversation. */
interface Place {
  readonly conversation: string;
  readonly at: number;
}

/**
 * Conversations whose turns are passages of their own. A turn is short and leaves out what the turns before it said: what
 * a question asks for is spread over several of them.
 */
export class Conversation {
  private readonly places = new Map<string, Place>();
  private readonly turns = new Map<string, Candidate>();

  /** Null when the passages are not turns of a conversation. */
  static of(passages: readonly Candidate[]): Conversation | null {
    const turns = passages.filter(isTurn);
    if (turns.length < MIN_TURNS || turns.length < TURN_SHARE * passages.length) return null;
    return new Conversation(turns);
  }

  private constructor(turns: readonly Candidate[]) {
    for (const turn of turns) {
      const place = placeOf(turn);
      if (place === null) continue;
      this.places.set(turn.row.id, place);
      this.turns.set(keyOf(place), turn);
    }
  }

  /** Returns the best that turns around a turn say about each term; nearer turns count more. */
  around({ row }: Candidate, coverageOf: (turn: Candidate) => ArrayLike<number>): number {
    const place = this.places.get(row.id);
    if (place === undefined) return 0;
    const best: number[] = [];
    for (let distance = -WINDOW; distance <= WINDOW; distance++) {
      const turn = this.turns.get(keyOf({ ...place, at: place.at + distance }));
      if (turn === undefined) continue;
      const weight = 1 - Math.abs(distance) / (WINDOW + 1);
      const coverage = coverageOf(turn);
      for (let at = 0; at < coverage.length; at++)
        best[at] = Math.max(best[at] ?? 0, weight * (coverage[at] as number));
    }
    return best.reduce((sum, value) => sum + value, 0);
  }

  /** Moves turns close to a better one behind the others, without changing the order otherwise. */
  spread<Entry>(ranked: readonly Entry[], idOf: (entry: Entry) => string): readonly Entry[] {
    const taken = new Set<string>();
    const first: Entry[] = [];
    const close: Entry[] = [];
    for (const entry of ranked) {
      const place = this.places.get(idOf(entry));
      const isClose = place !== undefined && taken.has(keyOf(place));
      (isClose ? close : first).push(entry);
      if (place === undefined || isClose) continue;
      for (let distance = -APART; distance <= APART; distance++)
        taken.add(keyOf({ ...place, at: place.at + distance }));
    }
    return [...first, ...close];
  }
}

function isTurn({ payload }: Candidate): boolean {
  return payload !== null && payload.chunkSize <= LONGEST_TURN && beginsWithTurn(payload.text);
}

/** Turns of one document are in the order of its chunks, documents of one turn in the order of the numbers in their names. */
function placeOf({ row, payload }: Candidate): Place | null {
  if (row.ordinal > 0) return { conversation: row.item, at: row.ordinal };
  const number = NUMBER.exec(payload?.documentName ?? '')?.[0];
  if (number === undefined || number.length > 9) return { conversation: row.item, at: 0 };
  return { conversation: payload?.documentName.replace(NUMBER, '#') ?? '', at: Number(number) };
}

function keyOf({ conversation, at }: Place): string {
  return `${conversation} ${at}`;
}
