import { expect } from 'chai';
import { createPlaces, placedStream } from './open-streams.ts';

describe('open streams', () => {
  const two = async () => ['event: a\n\n', 'event: b\n\n'];

  it('are limited for a caller and in all, and give their place back when they are read or broken off', async () => {
    const places = createPlaces({ perCaller: 2, inAll: 3 });
    const [first, second] = [await placedStream(places, 'ada', two), await placedStream(places, 'ada', two)];
    const refused = async (caller: string) => {
      const error = await placedStream(places, caller, two).catch((reason: Error) => reason);
      expect(error).to.include({ name: 'GraphStreamCapacityError', status: 503 });
    };
    await refused('ada');
    const third = await placedStream(places, 'bob', two);
    await refused('eve');
    expect(await first.toArray()).to.deep.equal(['event: a\n\n', 'event: b\n\n']);
    second.destroy();
    await new Promise((resolve) => second.once('close', resolve));
    const again = [await placedStream(places, 'ada', two), await placedStream(places, 'eve', two)];
    for (const stream of [third, ...again]) await stream.toArray();
  });

  it('give their place back when loading fails', async () => {
    const places = createPlaces({ perCaller: 1 });
    const failing = placedStream(places, 'ada', () => Promise.reject(new Error('no graph')));
    expect(await failing.catch((error: Error) => error.message)).to.equal('no graph');
    expect(await (await placedStream(places, 'ada', two)).toArray()).to.have.length(2);
  });

  it('end with status 408 after their lifetime, also when nobody reads', async () => {
    const places = createPlaces({ perCaller: 1 });
    const late = await placedStream(places, 'ada', two, { lifetimeMs: -1, graceMs: 1000 });
    expect(await late.toArray()).to.deep.equal([
      'event: error\ndata: {"message":"The stream took longer than its lifetime.","status":408}\n\n',
    ]);
    const unread = await placedStream(places, 'ada', two, { lifetimeMs: 5, graceMs: 5 });
    await new Promise((resolve) => unread.once('close', resolve));
    expect(places.take('ada')).to.be.a('function');
  });
});
