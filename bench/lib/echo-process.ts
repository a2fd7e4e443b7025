// An echo server in a separate process: `grpc` answers with as many bytes as an Add, `http` with its input.
import { AddResponse } from '../../src/server/gen/memory/v1/memory.ts';
import { grpcEcho, uwsEcho } from './echo.ts';

const REPLY = Buffer.from(AddResponse.encode({ hash: 'f'.repeat(64) }).finish());

const { port } = await (process.argv[2] === 'grpc' ? grpcEcho(() => Buffer.from(REPLY)) : uwsEcho());
process.send?.(port);
process.on('disconnect', () => process.exit());
