import { expect } from 'chai';
import { until } from '../../support/until.ts';
import { withBackend } from '../backend.ts';
import { natsWorld, removeStreams } from './nats-world.ts';

const bytes = (text: string) => new TextEncoder().encode(text);
const text = (payload: Uint8Array) => new TextDecoder().decode(payload);

withBackend('nats', ({ ENGRAM_TEST_NATS_URL: url }) => {
  describe('bus: nats, streams that the server has lost', () => {
    it('are made again, and bring every later message to each subscription', async () => {
      await using world = natsWorld(url);
      const lost: string[] = [];
      const options = { streamCheckMs: 100, onStreamLost: (stream: string) => void lost.push(stream) };
      const [publisher, reader] = await Promise.all([world.open(options), world.open(options)]);
      const read: string[] = [];
      await reader.subscribe('kept.news', async ({ payload }) => void read.push(text(payload)));
      for (const word of ['1', '2', '3']) await publisher.publish('kept.news', bytes(word));
      await until('all are read', () => read.length === 3);

      await removeStreams(url, world.prefix);
      await publisher.publish('kept.news', bytes('4'));
      await until('what came first is read', () => read.includes('4'));
      await publisher.publish('kept.news', bytes('5'));
      await until('what came later is read', () => read.includes('5'));
      expect(lost.length).to.be.greaterThan(0);
    });
  });
});
