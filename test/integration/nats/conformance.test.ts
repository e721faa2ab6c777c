import type { NatsBus } from '../../../services/common/storage/bus/nats/nats-bus.ts';
import type { Bus } from '../../../services/common/storage/ports/bus.ts';
import { busConformance, busMessages, busRequests } from '../../conformance/bus.ts';
import { withBackend } from '../backend.ts';
import { type NatsWorld, natsWorld } from './nats-world.ts';

withBackend('nats', ({ ENGRAM_TEST_NATS_URL: url }) => {
  const worlds: NatsWorld[] = [];
  const newWorld = (): NatsWorld => {
    const world = natsWorld(url);
    worlds.push(world);
    return world;
  };
  after(() => Promise.all(worlds.map((world) => world[Symbol.asyncDispose]())));

  busConformance('nats', () => newWorld().open());

  describe('bus: nats, between processes', () => {
    let asking: NatsBus;
    let answering: NatsBus;
    beforeEach(async () => {
      const world = newWorld();
      asking = await world.open();
      answering = await world.open();
    });
    afterEach(() => Promise.all([asking.drain(), answering.drain()]));
    const bus = (): Bus => ({
      request: asking.request,
      publish: asking.publish,
      respond: answering.respond,
      subscribe: answering.subscribe,
      drain: answering.drain,
    });
    busRequests(bus);
    busMessages(bus, '');
    busMessages(bus, 'kept.');
  });
});
