// Every operation of this build. The transports, app/exec and the OpenAPI document iterate over this table.

import { grantAccess, revokeAccess } from './access/change.ts';
import { checkAccess } from './access/check.ts';
import { listAccess } from './access/list.ts';
import { agent, agents } from './agents/agents.ts';
import { identities, identity } from './agents/identities.ts';
import { deactivateAgent, registerAgent } from './agents/register.ts';
import { calQuery } from './cal/query.ts';
import { calSwitch } from './cal/switch.ts';
import { threadMessages } from './chat/messages.ts';
import { chatStream } from './chat/stream.ts';
import { threadChange, threadCreate, threadDelete, threadGet, threadsList } from './chat/threads.ts';
import { complianceExport, complianceImpact, complianceMetrics, complianceViolations } from './compliance/results.ts';
import { verifyCompliance, verifyLatest } from './compliance/verify-run.ts';
import { consentGrant, consentGrantBulk, consentRevoke, consentStatus } from './consent/consent.ts';
import type { Operation } from './define.ts';
import { backup } from './deployment/backup.ts';
import { config } from './deployment/config.ts';
import { health, healthLive, healthReady, healthRpc } from './deployment/health.ts';
import { tierInfo } from './deployment/tier-info.ts';
import { verify } from './deployment/verify.ts';
import { extractDocument } from './documents/extract-document.ts';
import { importDocument } from './documents/import-document.ts';
import { erasureProof, proofKeys, rotateProofKey } from './erasure/erasure-proof.ts';
import { forgetUser } from './erasure/forget-user.ts';
import { events } from './events/events.ts';
import { execOperation } from './exec.ts';
import { delegateGoal, moveGoal } from './goals/change.ts';
import { createGoal } from './goals/create.ts';
import { blockedGoals, sessionGoals } from './goals/list.ts';
import { goalTree } from './goals/tree.ts';
import { accumulate } from './grains/accumulate.ts';
import { add } from './grains/add.ts';
import { batchAdd } from './grains/batch-add.ts';
import { exportFile } from './grains/export-file.ts';
import { flush } from './grains/flush.ts';
import { forget } from './grains/forget.ts';
import { get } from './grains/get.ts';
import { getRaw } from './grains/get-raw.ts';
import { history } from './grains/history.ts';
import { importFile } from './grains/import-file.ts';
import { list } from './grains/list.ts';
import { supersede } from './grains/supersede.ts';
import { graph } from './graph/graph.ts';
import { edgesList } from './graph/list-edges.ts';
import { harnessBindTool } from './harnesses/bind-tool.ts';
import { harnessChange } from './harnesses/change.ts';
import { harnessCreate } from './harnesses/create.ts';
import { harnessDelete } from './harnesses/delete.ts';
import { harnessGet } from './harnesses/get.ts';
import { harnessesList } from './harnesses/list.ts';
import { harnessProvision } from './harnesses/provision.ts';
import { harnessTemplates } from './harnesses/templates.ts';
import { harnessTools } from './harnesses/tools.ts';
import { hookResume, hooksCreate, hooksDelete, hooksList } from './hooks/hooks.ts';
import { hookRead } from './hooks/read.ts';
import { createImport } from './imports/create.ts';
import { importCancel, importGet, importStream, importsList } from './imports/jobs.ts';
import { keysCreate } from './keys/create.ts';
import { keysList } from './keys/list.ts';
import { keysRevoke } from './keys/revoke.ts';
import { whoamiOperation } from './keys/whoami.ts';
import { memoriesCreate } from './memories/create.ts';
import { memoryDelete } from './memories/delete.ts';
import { memoryGet } from './memories/get.ts';
import { memoriesList } from './memories/list.ts';
import { compact, rebuildIndexes, rotateKeys, verifyAuditChain } from './memories/maintenance.ts';
import { memoryMetrics } from './memories/metrics.ts';
import { stats } from './memories/stats.ts';
import { statsHistory } from './memories/stats-history.ts';
import { openApiOperation } from './openapi.ts';
import { detectPii, detectPiiDetailed } from './pii/detect.ts';
import { nerStatus } from './pii/ner-status.ts';
import { policyGet, policyPut, policyResolved, policySimulate } from './policy/policy.ts';
import { recallChain } from './recall/chain.ts';
import { recall } from './recall/recall.ts';
import { search } from './recall/search.ts';
import { remember } from './remember/remember.ts';
import { restrict, restrictions, unrestrict } from './restriction/restriction.ts';
import { retentionEnforce, retentionStatus } from './retention/retention.ts';
import { scopeErase } from './scopes/scope-erase.ts';
import { deleteScopeTree, scopeTree, setScopeTree } from './scopes/scope-tree.ts';
import { failedActions, sessionActions } from './sessions/actions.ts';
import { actionsSummary } from './sessions/actions-summary.ts';
import { bootstrap } from './sessions/bootstrap.ts';
import { actionsChain } from './sessions/chain.ts';
import { sessionConsolidate } from './sessions/consolidate.ts';
import { sessionContext } from './sessions/context.ts';
import { sessionState } from './sessions/state.ts';
import { statesDiff } from './sessions/states-diff.ts';
import { assignments, assignmentsPut } from './settings/assignments.ts';
import { llm, llmPut } from './settings/llm.ts';
import { models, providerModels } from './settings/models.ts';
import { providerDelete, providerPut, providersList, providerTest } from './settings/providers.ts';
import { eraseRequest, reportRequest } from './subject-requests/answer.ts';
import { closeRequest, extendRequest, getRequest, listRequests, openRequest } from './subject-requests/requests.ts';
import { audit } from './trail/audit.ts';
import { exportPortability, exportPortabilityCommand, exportUser, exportUserFile } from './trail/export-user.ts';
import { provenanceGet } from './trail/provenance-get.ts';
import { provenanceList } from './trail/provenance-list.ts';
import { provenanceSummary } from './trail/provenance-summary.ts';
import { harnessChat, harnessResume } from './turns/chat.ts';
import { harnessConversation, harnessConversations } from './turns/conversations.ts';
import { harnessCancel, harnessSession } from './turns/session.ts';

const ROWS: readonly Operation[] = [
  add,
  batchAdd,
  recall,
  recallChain,
  search,
  list,
  get,
  getRaw,
  remember,
  supersede,
  accumulate,
  forget,
  forgetUser,
  flush,
  history,
  importFile,
  extractDocument,
  importDocument,
  createImport,
  importsList,
  importGet,
  importStream,
  importCancel,
  exportFile,
  bootstrap,
  sessionState,
  sessionActions,
  actionsSummary,
  actionsChain,
  failedActions,
  sessionContext,
  sessionConsolidate,
  createGoal,
  sessionGoals,
  blockedGoals,
  goalTree,
  moveGoal,
  delegateGoal,
  statesDiff,
  consentGrant,
  consentRevoke,
  consentGrantBulk,
  consentStatus,
  restrict,
  unrestrict,
  restrictions,
  policyGet,
  policyPut,
  policySimulate,
  policyResolved,
  retentionStatus,
  retentionEnforce,
  grantAccess,
  revokeAccess,
  checkAccess,
  listAccess,
  events,
  registerAgent,
  deactivateAgent,
  identities,
  identity,
  agents,
  agent,
  detectPii,
  detectPiiDetailed,
  nerStatus,
  calQuery,
  calSwitch,
  config,
  health,
  healthLive,
  healthReady,
  healthRpc,
  llm,
  llmPut,
  providersList,
  providerPut,
  providerDelete,
  providerTest,
  providerModels,
  models,
  assignments,
  assignmentsPut,
  keysList,
  keysCreate,
  keysRevoke,
  memoriesList,
  memoriesCreate,
  memoryGet,
  memoryDelete,
  scopeTree,
  setScopeTree,
  deleteScopeTree,
  scopeErase,
  graph,
  edgesList,
  chatStream,
  threadsList,
  threadCreate,
  threadGet,
  threadChange,
  threadDelete,
  threadMessages,
  harnessesList,
  harnessCreate,
  harnessGet,
  harnessChange,
  harnessDelete,
  harnessProvision,
  harnessBindTool,
  harnessTools,
  harnessTemplates,
  harnessChat,
  harnessResume,
  harnessSession,
  harnessCancel,
  harnessConversations,
  harnessConversation,
  hooksList,
  hooksCreate,
  hooksDelete,
  hookResume,
  hookRead,
  stats,
  statsHistory,
  memoryMetrics,
  tierInfo,
  audit,
  provenanceList,
  provenanceSummary,
  provenanceGet,
  exportUser,
  exportUserFile,
  exportPortability,
  exportPortabilityCommand,
  verifyCompliance,
  verifyLatest,
  complianceMetrics,
  complianceViolations,
  complianceImpact,
  complianceExport,
  verifyAuditChain,
  rebuildIndexes,
  compact,
  rotateKeys,
  openRequest,
  listRequests,
  getRequest,
  extendRequest,
  reportRequest,
  eraseRequest,
  closeRequest,
  erasureProof,
  proofKeys,
  rotateProofKey,
  verify,
  backup,
];

const WITH_EXEC: readonly Operation[] = [...ROWS, execOperation(ROWS)];
const WITH_WHOAMI: readonly Operation[] = [...WITH_EXEC, whoamiOperation(() => OPERATIONS)];

export const OPERATIONS: readonly Operation[] = [...WITH_WHOAMI, openApiOperation(WITH_WHOAMI)];
