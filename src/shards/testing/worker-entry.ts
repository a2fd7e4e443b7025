// The entry file of the threads that this folder's tests start.
import { EngineError } from '../../engine/errors.ts';
import { serveShards } from '../worker.ts';
import { ADD_CODEC, addCodec } from './add-codec.ts';
import { FakeEngine } from './fake-engine.ts';

export default serveShards({
  openEngine: (options) =>
    options.directory === 'refused'
      ? Promise.reject(new EngineError('STO-E001', 'the directory is refused'))
      : Promise.resolve(new FakeEngine(options.shard)),
  codecs: { [ADD_CODEC]: addCodec },
});
