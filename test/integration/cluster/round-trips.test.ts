import { expect } from 'chai';
import { type BenchClient, createClient } from '../../bench/speed/client.ts';
import { until } from '../../support/until.ts';
import { withBackends } from '../backend.ts';
import { type ClusterProcess, startCluster } from '../cluster-process.ts';
import { type OwnNames, takeOwnNames } from '../own-names.ts';
import { type CountedServers, startCountedServers } from '../wire-counts/counted-servers.ts';
import {
  countTrips,
  expectAtMost,
  expectNoGrowth,
  type Measured,
  type RoundTrips,
} from '../wire-counts/round-trips.ts';

/**
 * Most requests to each store of a search that nothing was remembered for. Elasticsearch: the space of the vectors, then the
 * lanes that run at once in one, then a request for each step that needs the rows of the one before.
 */
const SEARCH_TRIPS: Readonly<Record<string, Omit<RoundTrips, 'nats'>>> = {
  CHUNKS: { mongodb: 18, elasticsearch: 5, neo4j: 2 },
  CHUNKS_LEXICAL: { mongodb: 12, elasticsearch: 2, neo4j: 0 },
  SUMMARIES: { mongodb: 14, elasticsearch: 4, neo4j: 0 },
  RAG_COMPLETION: { mongodb: 14, elasticsearch: 5, neo4j: 2 },
  GRAPH_COMPLETION: { mongodb: 18, elasticsearch: 6, neo4j: 3 },
  HYBRID_COMPLETION: { mongodb: 18, elasticsearch: 6, neo4j: 3 },
  TRIPLET_COMPLETION: { mongodb: 18, elasticsearch: 7, neo4j: 3 },
  // On a slow machine what auth said and what was learned, which are remembered for a second, are read more than once: 24 to 28.
  FEELING_LUCKY: { mongodb: 28, elasticsearch: 6, neo4j: 3 },
};
/** Requests to Elasticsearch of a dataset that is copied into the search process: triplets are asked for. */
const COPIED_TRIPS: Readonly<Record<string, number>> = {
  CHUNKS: 0,
  CHUNKS_LEXICAL: 0,
  SUMMARIES: 0,
  RAG_COMPLETION: 0,
  GRAPH_COMPLETION: 0,
  HYBRID_COMPLETION: 0,
  TRIPLET_COMPLETION: 1,
};
/** Of each type; and what the lease of the copy takes meanwhile. */
const COPIED_MONGODB_TRIPS = 13;
const LEASE_TRIPS = 4;
const SEARCH_TYPES = Object.keys(SEARCH_TRIPS);

/** What auth said is remembered for a second, which may end between two searches; 27 results more would cost 27. */
const ACCESS_TRIPS = 15;

/** A text of so many sections, each a chunk of its own. */
function text(name: string, sections: number): string {
  const section = (index: number): string =>
    `# Entry ${name} ${index}\n\nCaptain Ahab${index} met Queequeg${index % 9} of Nantucket in room ${index} of the ${name} ` +
    'house, and they spoke about the white whale and the sea for a long time before the ship sailed to port ' +
    `${index * 7}. Later Ishmael wrote to Starbuck${index % 5} about it.`;
  return Array.from({ length: sections }, (_, index) => section(index)).join('\n\n');
}

withBackends(['mongodb', 'nats', 'elasticsearch', 'neo4j'], () => {
  describe('round trips of the cluster, counted between it and its servers', function () {
    this.timeout(300_000);
    let names: OwnNames;
    let servers: CountedServers;
    let cluster: ClusterProcess;
    let client: BenchClient;

    const counted = (work: () => Promise<unknown>): Promise<Measured> => countTrips(servers, work);
    const add = (datasetName: string, data: readonly string[]) => client.post('/api/v1/add', { datasetName, data });
    const cognify = (dataset: string) => client.post('/api/v1/cognify', { datasets: [dataset], chunkSize: 100 });
    const forget = (dataset: string) => client.post('/api/v1/forget', { dataset });
    const search = (searchType: string, topK: number, dataset = 'hundred') =>
      client.post('/api/v1/search', {
        query: dataset === 'warm' ? 'What did Ahab1 say to Queequeg1?' : 'What did Ahab7 say to Queequeg3?',
        searchType,
        datasets: [dataset],
        onlyContext: searchType.endsWith('COMPLETION'),
        topK,
      });
    const recall = (topK: number) =>
      client.post('/api/v1/recall', { query: 'What did Ahab7 say to Queequeg3?', datasets: ['hundred'], topK });
    const numbered = (name: string, count: number) => Array.from({ length: count }, (_, at) => text(`${name}${at}`, 2));

    before(async () => {
      names = takeOwnNames();
      servers = await startCountedServers(names.environment['ENGRAM_NATS_SUBJECT_PREFIX'] ?? '');
      // Of the datasets `warm` may be copied, and `hundred` not.
      const stages = { TRIPLET_EMBEDDING: 'true', PERSONALIZATION_ENABLED: 'true', ENGRAM_COPY_MEMORY: '190KB' };
      cluster = await startCluster({ ...names.environment, ...servers.environment, ...stages });
      client = createClient(cluster.baseUrl);
      await add('warm', [text('warm', 2)]);
      await cognify('warm');
    });

    after(async () => {
      await client.post('/api/v1/forget', { everything: true });
      await cluster.stop();
      await servers.close();
      await names.remove();
    });

    it('adds a text in a few, however long it is', async () => {
      await add('texts', ['A first text of Captain Ahab.']);
      const short = await counted(() => add('texts', ['A short text of Captain Ahab.']));
      const long = await counted(() => add('texts', [text('long', 100)]));
      expectAtMost(short, { mongodb: 60, elasticsearch: 0, neo4j: 0, nats: 8 });
      expectNoGrowth(short, long, 15);
    });

    it('adds many texts with no more than their blobs need', async () => {
      const few = await counted(() => add('few', numbered('few', 2)));
      const many = await counted(() => add('many', numbered('many', 22)));
      // What of them is known, and what the caller was shown, is looked up for all together.
      expectNoGrowth(few, many, 20 * 8);
    });

    it('cognifies a hundred chunks in hardly more than ten', async () => {
      await add('ten', [text('ten', 10)]);
      await add('hundred', [text('hundred', 100)]);
      const ten = await counted(() => cognify('ten'));
      const hundred = await counted(() => cognify('hundred'));
      expectAtMost(hundred, { mongodb: 120, elasticsearch: 24, neo4j: 16, nats: 24 });
      expectNoGrowth(ten, hundred, 25);
    });

    it('cognifies many items with a few for each, undisturbed by one another', async () => {
      const one = await counted(() => cognify('few'));
      const many = await counted(() => cognify('many'));
      expectNoGrowth(one, many, 20 * 10);
    });

    for (const [type, bounds] of Object.entries(SEARCH_TRIPS)) {
      it(`searches ${type} in a few, however many results are wanted`, async () => {
        const three = await counted(() => search(type, 3));
        const thirty = await counted(() => search(type, 30));
        expectAtMost(three, { nats: 6, ...bounds });
        expectNoGrowth(three, thirty, ACCESS_TRIPS);
      });
    }

    it('searches a small dataset again without asking for its rows', async () => {
      const lexical = () => counted(() => search('CHUNKS_LEXICAL', 3, 'warm'));
      await until('a search of a copy', async () => (await lexical()).trips.elasticsearch === 0, { everyMs: 200 });
      for (const [type, elasticsearch] of Object.entries(COPIED_TRIPS)) {
        const found = await counted(() => search(type, 3, 'warm'));
        const mongodb = COPIED_MONGODB_TRIPS + LEASE_TRIPS;
        expectAtMost(found, { mongodb, elasticsearch, neo4j: 0, nats: 6 });
        // One read says that nothing has changed, and that no statement is superseded.
        expect(found.timesOf('mongodb: aggregate ledger'), found.listing).to.equal(1);
        for (const kind of ['find ledger', 'find vector_homes', 'find supersessions'])
          expect(found.timesOf(`mongodb: ${kind}`), found.listing).to.equal(0);
      }
    });

    it('recalls in a few, however many results are wanted', async () => {
      const three = await counted(() => recall(3));
      const thirty = await counted(() => recall(30));
      expectAtMost(three, { mongodb: 18, elasticsearch: 5, neo4j: 2, nats: 4 });
      expectNoGrowth(three, thirty, ACCESS_TRIPS);
    });

    it('improves a session with nothing new in a few, whatever the session holds', async () => {
      const enter = (session: string, entry: object) =>
        client.post('/api/v1/remember/entry', { dataset_name: 'talks', session_id: session, entry });
      const improve = (session: string) =>
        client.post('/api/v1/improve', {
          datasetName: 'talks',
          sessionIds: [session],
          buildTruthSubspace: true,
          buildGlobalContextIndex: true,
        });
      const measured: Measured[] = [];
      for (const [session, turns] of [['short', 2] as const, ['long', 30] as const]) {
        for (let turn = 0; turn < turns; turn += 1) {
          const said = { question: `Where does Team ${turn} meet?`, answer: `Team ${turn} meets in room ${turn}.` };
          await enter(session, { type: 'qa', ...said, feedback_score: 1 + (turn % 5) });
          await enter(session, { type: 'trace', origin_function: `look_${turn}`, status: 'success' });
        }
        // The second looks once more at ratings whose elements are not in the graph.
        for (let time = 0; time < 4; time += 1) await improve(session);
        const commitsOf = ({ timesOf }: Measured) => timesOf('mongodb: commitTransaction');
        // What a slow machine still has in hand of before is over in the next one.
        let idle = await counted(() => improve(session));
        for (let time = 0; time < 2 && commitsOf(idle) > 3; time += 1) idle = await counted(() => improve(session));
        measured.push(idle);
        // On a slow machine its start is recorded too: a commit for that, and one for its end by itself.
        const isSlow = idle.timesOf('nats: cognify.RecordRun') > 1;
        expectAtMost(idle, { mongodb: isSlow ? 64 : 42, elasticsearch: 4, neo4j: 2, nats: 14 });
        expect(commitsOf(idle), idle.listing).to.be.at.most(isSlow ? 5 : 3);
      }
      const [short, long] = measured;
      if (short !== undefined && long !== undefined) expectNoGrowth(short, long, 26);
    });

    it('forgets a dataset in as many, however large it is', async () => {
      // As the other one was: its answers are in a session, and marked as shown.
      for (const type of SEARCH_TYPES) await search(type, 3, 'ten');
      const ten = await counted(() => forget('ten'));
      const hundred = await counted(() => forget('hundred'));
      // Collections that hold nothing of a dataset cost nothing; the others go together, in parts if they are large.
      // A commit that met another one, which a slow machine still had in hand, is made again.
      const again = 30 * hundred.timesOf('mongodb: abortTransaction');
      expectAtMost(hundred, { mongodb: 140 + again, elasticsearch: 24, neo4j: 20, nats: 24 });
      expectNoGrowth(ten, hundred, 20 + again);
    });
  });
});
