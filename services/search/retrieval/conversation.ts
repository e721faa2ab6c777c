import { stemOf } from '../../common/text/language/tokenize.ts';
import { firstSpeaker } from '../../common/text/language/turns.ts';
import type { Candidate } from './candidates.ts';

/** Turns this far from each other may speak about the same. */
const WINDOW = 20;
/** Two results are further apart than this while there are others: each stands for the turns around it. */
const APART = 8;
/** Fewer passages say nothing about what a dataset holds. */
const MIN_TURNS = 5;
const TURN_SHARE = 0.7;
/** Speakers speak again; labels (`Summary: …`, `Address: …`) are as many as the passages, or always the same. */
const TURNS_PER_SPEAKER = 2;
const MIN_SPEAKERS = 2;
/** Tokens of a turn; a longer passage holds its own context. */
const LONGEST_TURN = 150;
const NUMBER = /\d+(?=\D*$)/u;
/** Words that ask what was said rather than about what ("What did the group think of …"): turns hold them anywhere. */
const ASKING = new Set(
  `comment comments contribute contribution describe detail details discuss discussed discussing discussion group meeting
  mention mentioned opinion opinions point points present presented presenting state statement summarise summarize summary
  talk talked team think thinking thought thoughts view views`
    .split(/\s+/u)
    .map(stemOf),
);
const ASKING_WEIGHT = 0.25;

/** A passage in the order of its conversation. */
interface Place {
  readonly conversation: string;
  readonly at: number;
}

interface Turn extends Place {
  readonly id: string;
  /** Score of the turn by itself. */
  readonly value: number;
}

/**
 * Conversations whose turns are passages of their own. A turn is short and leaves out what the turns before it said: what
 * a question asks for is spread over several of them. Tuned on meetings of QMSum (`bench:retrieval -- qmsum`) in coarse steps.
 */
export class Conversation {
  private readonly places: ReadonlyMap<string, Place>;

  /** Null when the passages are not turns of a conversation. */
  static of(passages: readonly Candidate[]): Conversation | null {
    const turns = new Map(
      passages.map((passage) => [passage, speakerOf(passage)] as const).filter(([, who]) => who !== null),
    );
    const speakers = new Set(turns.values()).size;
    if (turns.size < MIN_TURNS || turns.size < TURN_SHARE * passages.length) return null;
    if (speakers < MIN_SPEAKERS || TURNS_PER_SPEAKER * speakers > turns.size) return null;
    return new Conversation([...turns.keys()]);
  }

  private constructor(turns: readonly Candidate[]) {
    this.places = new Map(turns.map((turn) => [turn.row.id, placeOf(turn)]));
  }

  /** Returns how much each term of a question counts. */
  weightsOf(terms: readonly string[]): readonly number[] {
    return terms.map((term) => (ASKING.has(term) ? ASKING_WEIGHT : 1));
  }

  /** Returns for each turn what the turns around it say about a query; nearer turns count more. */
  around(saidBy: (id: string) => number): ReadonlyMap<string, number> {
    const turns = [...this.places].map(([id, place]): Turn => ({ id, ...place, value: saidBy(id) }));
    turns.sort((a, b) => (a.conversation < b.conversation ? -1 : a.conversation > b.conversation ? 1 : a.at - b.at));
    const sums = new Map(turns.map(({ id }) => [id, 0]));
    for (const [index, turn] of turns.entries()) {
      for (let next = index + 1; next < turns.length; next++) {
        const other = turns[next] as Turn;
        const distance = other.at - turn.at;
        if (other.conversation !== turn.conversation || distance > WINDOW) break;
        const weight = 1 - distance / (WINDOW + 1);
        sums.set(turn.id, (sums.get(turn.id) as number) + weight * other.value);
        sums.set(other.id, (sums.get(other.id) as number) + weight * turn.value);
      }
    }
    return sums;
  }

  /** Moves turns close to a better one behind the others, without changing the order otherwise. */
  spread<Entry>(ranked: readonly Entry[], idOf: (entry: Entry) => string): readonly Entry[] {
    const taken = new Map<string, number[]>();
    const first: Entry[] = [];
    const close: Entry[] = [];
    for (const entry of ranked) {
      const place = this.places.get(idOf(entry));
      const others = taken.get(place?.conversation ?? '') ?? [];
      const isClose = place !== undefined && others.some((at) => Math.abs(at - place.at) <= APART);
      (isClose ? close : first).push(entry);
      if (place !== undefined && !isClose) taken.set(place.conversation, [...others, place.at]);
    }
    return [...first, ...close];
  }
}

/** Returns the speaker of a turn; null for another passage. */
function speakerOf({ payload }: Candidate): string | null {
  if (payload === null || payload.chunkSize > LONGEST_TURN) return null;
  return firstSpeaker(payload.text);
}

/** Turns of one document are in the order of its chunks, documents of one turn in the order of the numbers in their names. */
function placeOf({ row, payload }: Candidate): Place {
  if (row.ordinal > 0) return { conversation: row.item, at: row.ordinal };
  const number = NUMBER.exec(payload?.documentName ?? '')?.[0];
  if (number === undefined || number.length > 9) return { conversation: row.item, at: 0 };
  return { conversation: payload?.documentName.replace(NUMBER, '#') ?? '', at: Number(number) };
}
