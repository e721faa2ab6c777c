import { expect } from 'chai';
import { type EngramProcess, makeDataDir, startProcess } from '../support/engram-process.ts';
import { describeWhenWhole } from '../support/extent.ts';
import { until } from '../support/until.ts';
import { createWire } from '../support/wire.ts';

const KILLS = 3;
const SESSIONS = ['one', 'two', 'three'];

interface Told {
  readonly session: string;
  readonly text: string;
}

describeWhenWhole('kill -9 while sessions are remembered', () => {
  it('loses and doubles nothing that was acknowledged, and leaves no gap', async () => {
    const data = makeDataDir();
    const acknowledged: Told[] = [];
    let sent = 0;
    /** Entries and texts, several at once, until the process is gone. */
    const talk = async (server: EngramProcess): Promise<void> => {
      const wire = createWire(server.baseUrl);
      const one = async (): Promise<void> => {
        for (;;) {
          sent += 1;
          const told = { session: SESSIONS[sent % SESSIONS.length] ?? 'one', text: `text ${sent}` };
          const entry = { type: 'qa', question: 'x', answer: told.text };
          const answer = await (sent % 2 === 0
            ? wire.post('/remember/entry', { entry, session_id: told.session, dataset_name: 'notes' })
            : wire.post('/remember', { data: told.text, datasetName: 'notes', session_id: told.session }));
          expect(answer.status, answer.text).to.equal(200);
          acknowledged.push(told);
        }
      };
      await Promise.allSettled([one(), one(), one(), one()]);
    };
    const variables = { dataDir: data.path, environment: { IMPROVE_AUTO_ENABLED: 'false' } };
    let server = await startProcess(variables);
    try {
      for (let kill = 0; kill < KILLS; kill += 1) {
        const talking = talk(server);
        const enough = acknowledged.length + 24 / KILLS;
        await new Promise((resolve) => setTimeout(resolve, 300 + kill * 150));
        await until('enough is acknowledged', () => acknowledged.length >= enough);
        await server.kill();
        await talking;
        server = await startProcess(variables);
      }
      expect(acknowledged.length).to.be.greaterThan(20);
      const wire = createWire(server.baseUrl);
      for (const session of SESSIONS) {
        const row = (await wire.get(`/sessions/${session}`)).json as { msg_count: number; qas: { answer: string }[] };
        const own = acknowledged.filter((told) => told.session === session);
        // At most those that were under way at each kill came through without an answer.
        expect(row.msg_count).to.be.within(own.length, own.length + KILLS * 4);
        const shown = row.qas.map(({ answer }) => answer);
        expect(new Set(shown).size).to.equal(shown.length);
        for (const { text } of own.slice(-5)) expect(shown).to.include(text);
      }
    } finally {
      await server.stop();
      data.remove();
    }
  });

  it('keeps each request with an Idempotency-Key once, however often it is sent again', async () => {
    const data = makeDataDir();
    const environment = { IMPROVE_AUTO_ENABLED: 'false' };
    const unanswered = new Set<number>();
    let sent = 0;
    const send = (server: EngramProcess, number: number) => {
      const headers = { 'content-type': 'application/json', 'idempotency-key': `request-${number}` };
      const wire = createWire(server.baseUrl);
      const place = { dataset_name: 'notes', session_id: 'one' };
      const entry =
        number % 2 === 0
          ? { type: 'qa', question: 'x', answer: `text ${number}` }
          : { type: 'trace', origin_function: `step ${number}` };
      return wire.post('/remember/entry', { entry, ...place }, headers);
    };
    const talk = (server: EngramProcess) =>
      Promise.allSettled(
        Array.from({ length: 8 }, async () => {
          for (;;) {
            sent += 1;
            const number = sent;
            unanswered.add(number);
            expect((await send(server, number)).status).to.equal(200);
            unanswered.delete(number);
          }
        }),
      );
    let server = await startProcess({ dataDir: data.path, environment });
    try {
      for (let kill = 0; kill < KILLS; kill += 1) {
        const talking = talk(server);
        const enough = sent + 40;
        await until('enough is sent', () => sent >= enough);
        await server.kill();
        await talking;
        server = await startProcess({ dataDir: data.path, environment });
      }
      expect(unanswered.size).to.be.greaterThan(KILLS);
      for (const number of unanswered) {
        // The claim of the killed process holds for some seconds.
        await until('the repetition is answered', async () => (await send(server, number)).status === 200, {
          everyMs: 500,
        });
      }
      const session = (await createWire(server.baseUrl).get('/sessions/one')).json;
      expect(session.msg_count + session.tool_calls, JSON.stringify(session).slice(0, 500)).to.equal(sent);
    } finally {
      await server.stop();
      data.remove();
    }
  });
});
