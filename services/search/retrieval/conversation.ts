import { stemOf, tokenize } from '../../common/text/language/tokenize.ts';
import { firstSpeaker, turnsOf } from '../../common/text/language/turns.ts';
import type { Candidate } from './candidates.ts';

/** Turns this far from each other may speak about the same. */
const WINDOW = 30;
/** Weight of turns behind a turn, relative to those before it. */
const BEHIND = 0.6;
/** Weight of a word that the turns around say at all, relative to saying it once, and what they say of it for half of that. */
const OCCURS = 10;
const ENOUGH = 2;
/** Two results are further apart than this while there are others: each stands for the turns around it. */
const APART = 8;
/** Fewer passages say nothing about what a dataset holds. */
const MIN_TURNS = 5;
const TURN_SHARE = 0.7;
/** Speakers speak again; labels (`Summary: …`, `Address: …`) are as many as the passages, or always the same. */
const TURNS_PER_SPEAKER = 2;
const MIN_SPEAKERS = 2;
/** Tokens of a passage; several turns in a longer one are their own context. */
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
/** Tokens of a turn that says something rather than `Yes.`. */
const TELLING = 12;
/** All turns of a speaker begin with the name. */
const NAME_WEIGHT = 0.5;
/** Words in the middle of a question that may be names. */
const CAPITALISED = /(?<=\s)\p{Lu}\S*/gu;

/** A passage in the order of its conversation. */
interface Place {
  readonly conversation: string;
  readonly at: number;
}

interface SpokenPassage {
  readonly passage: Candidate;
  readonly speaker: string;
}

interface Turn extends Place {
  readonly id: string;
  /** The value of each term of the question in the turn, and in the turns around it. */
  readonly said: Float64Array;
  readonly heard: Float64Array;
}

/**
 * Conversations whose turns are passages of their own. A turn is short and leaves out what the turns before it said: what
 * a question asks for is spread over several of them. Tuned on meetings of QMSum (`bench:retrieval -- qmsum`) in coarse steps.
 */
export class Conversation {
  private readonly places: ReadonlyMap<string, Place>;
  /** Tokens of the names of speakers that the question names. */
  private readonly named: ReadonlySet<string>;
  private readonly turnsOfNamed: ReadonlyMap<string, number>;

  /** Null when the passages are not turns of a conversation. */
  static of(passages: readonly Candidate[], question: string): Conversation | null {
    const turns = passages.flatMap((passage) => {
      const speaker = speakerOf(passage);
      return speaker === null ? [] : [{ passage, speaker }];
    });
    const speakers = new Set(turns.map(({ speaker }) => speaker));
    if (turns.length < MIN_TURNS || turns.length < TURN_SHARE * passages.length) return null;
    if (speakers.size < MIN_SPEAKERS || TURNS_PER_SPEAKER * speakers.size > turns.length) return null;
    return new Conversation(turns, namedIn(question, [...speakers]));
  }

  private constructor(turns: readonly SpokenPassage[], named: readonly string[]) {
    this.places = new Map(turns.map(({ passage }) => [passage.row.id, placeOf(passage)]));
    this.named = new Set(named.flatMap(tokenize));
    this.turnsOfNamed = new Map(
      turns
        .filter(({ speaker }) => named.includes(speaker))
        .map(({ passage: { row, payload } }) => [row.id, Math.min(1, (payload?.chunkSize ?? 0) / TELLING)]),
    );
  }

  /** Returns how much each term of the question counts. */
  weightsOf(terms: readonly string[]): readonly number[] {
    return terms.map((term) => (ASKING.has(term) ? ASKING_WEIGHT : this.named.has(term) ? NAME_WEIGHT : 1));
  }

  /** Returns how much a speaker whom the question names says in a turn, 0 to 1. */
  saidByNamed(id: string): number {
    return this.turnsOfNamed.get(id) ?? 0;
  }

  /**
   * Returns for each turn what the turns around it say about the question: all that they say, and more for the words of it that
   * occur at all. Nearer turns count more, and those behind it less, because a topic is opened before it is discussed.
   * `saidBy`: the value of each word in a turn; `units`: that of a word said once.
   */
  around(saidBy: (id: string) => Float64Array | null, units: readonly number[]): ReadonlyMap<string, number> {
    const turns = [...this.places].map(([id, place]): Turn => {
      const said = saidBy(id)?.subarray(0, units.length) ?? new Float64Array(units.length);
      return { id, ...place, said, heard: new Float64Array(units.length) };
    });
    turns.sort((a, b) => (a.conversation < b.conversation ? -1 : a.conversation > b.conversation ? 1 : a.at - b.at));
    for (const [index, turn] of turns.entries()) {
      for (let next = index + 1; next < turns.length; next++) {
        const later = turns[next] as Turn;
        const distance = later.at - turn.at;
        if (later.conversation !== turn.conversation || distance > WINDOW) break;
        const weight = 1 - distance / (WINDOW + 1);
        add(later.heard, turn.said, weight);
        add(turn.heard, later.said, BEHIND * weight);
      }
    }
    return new Map(
      turns.map(({ id, said, heard }) => {
        let value = 0;
        for (const [term, unit] of units.entries()) {
          const others = heard[term] as number;
          const all = others + (said[term] as number);
          value += others + (all === 0 ? 0 : (OCCURS * unit * all) / (all + ENOUGH * unit));
        }
        return [id, value];
      }),
    );
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

function add(sums: Float64Array, values: Float64Array, weight: number): void {
  for (let at = 0; at < sums.length; at++) sums[at] = (sums[at] as number) + weight * (values[at] as number);
}

/** Returns the speakers that a question names: by the whole name, else by a capitalised word of it (`Tom` of `Tom Okoye`). */
function namedIn(question: string, speakers: readonly string[]): readonly string[] {
  const asked = new Set(tokenize(question));
  const whole = speakers.filter((speaker) => tokenize(speaker).every((token) => asked.has(token)));
  if (whole.length > 0) return whole;
  const capitalised = new Set((question.match(CAPITALISED) ?? []).flatMap(tokenize));
  return speakers.filter((speaker) => tokenize(speaker).some((token) => capitalised.has(token)));
}

/** Returns the speaker of a turn; null for another passage. */
function speakerOf({ payload }: Candidate): string | null {
  if (payload === null) return null;
  const speaker = firstSpeaker(payload.text);
  return payload.chunkSize > LONGEST_TURN && speaker !== null && turnsOf(payload.text).length > 1 ? null : speaker;
}

/** Turns of one document are in the order of its chunks, documents of one turn in the order of the numbers in their names. */
function placeOf({ row, payload }: Candidate): Place {
  if (row.ordinal > 0) return { conversation: row.item, at: row.ordinal };
  const number = NUMBER.exec(payload?.documentName ?? '')?.[0];
  if (number === undefined || number.length > 9) return { conversation: row.item, at: 0 };
  return { conversation: payload?.documentName.replace(NUMBER, '#') ?? '', at: Number(number) };
}
