// Contract methods that commands call.
import {
  AddRequest,
  AddResponse,
  BatchAddRequest,
  BatchAddResponse,
  FlushRequest,
  FlushResponse,
  ForgetRequest,
  ForgetResponse,
  GetHistoryRequest,
  GetHistoryResponse,
  GetRequest,
  GetResponse,
  HealthRequest,
  HealthResponse,
  RecallRequest,
  RecallResponse,
  RememberRequest,
  RememberResponse,
  StatsRequest,
  StatsResponse,
} from '../server/gen/memory/v1/memory.ts';
import { method } from './grpc-caller.ts';

export const RPC = {
  add: method('Add', AddRequest, AddResponse),
  batchAdd: method('BatchAdd', BatchAddRequest, BatchAddResponse, 'MemoryBatchService'),
  flush: method('Flush', FlushRequest, FlushResponse),
  forget: method('Forget', ForgetRequest, ForgetResponse),
  get: method('Get', GetRequest, GetResponse),
  health: method('Health', HealthRequest, HealthResponse),
  history: method('GetHistory', GetHistoryRequest, GetHistoryResponse),
  recall: method('Recall', RecallRequest, RecallResponse),
  remember: method('Remember', RememberRequest, RememberResponse),
  stats: method('Stats', StatsRequest, StatsResponse),
};
