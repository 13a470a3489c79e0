// Made of platform/contract by `make docs`: change that, not this.
import type { AnswerOf, RequestOf } from "../contract/endpoints.ts";
import type { CallOptions } from "./http/call.ts";

/**
 * One method for each endpoint of the contract, by its name. All of them fail with an `ApiError`, whose `code` gives
 * the reason.
 */
export interface Methods {
  /**
   * Starts a session. Repeated after failures: the end is the same.
   * @param request `email`; `password`.
   * @returns `authToken`: Token for the header X-Auth-Token. Its lifetime is not documented; `userId`: The user's ID, for the header X-User-Id.
   * @throws ApiError `unauthorized`
   * @see `POST /api/login`, docs/endpoints.md#login
   */
  login: (request: RequestOf<"login">, options?: CallOptions) => Promise<AnswerOf<"login">>;
  /**
   * Ends the session of the token. Repeated after failures: the end is the same.
   * @param request `authToken` (optional): Token for the header X-Auth-Token. Its lifetime is not documented; `userId` (optional): The user's ID, for the header X-User-Id.
   * @throws ApiError `unauthorized`
   * @see `POST /api/logout`, docs/endpoints.md#logout
   */
  logout: (request: RequestOf<"logout">, options?: CallOptions) => Promise<AnswerOf<"logout">>;
  /**
   * Finds the user ID that belongs to an e-mail address. Works only where it is enabled. Changes nothing; repeated after failures.
   * @param request `email`.
   * @returns `userID`.
   * @throws ApiError `notFound`, `forbidden`
   * @see `GET /api/userid`, docs/endpoints.md#userid
   */
  userid: (request: RequestOf<"userid">, options?: CallOptions) => Promise<AnswerOf<"userid">>;
  /**
   * Reads many rows of a data table. Changes nothing; repeated after failures.
   * @param request `microAppID`: Data table ID; `searchFilter` (optional): Paging and sorting. Send skip and limit together, with a stable sort; `optSearchFilters` (optional): Equality on fields, by field ID; `optViewFilters` (optional): Queries on stored row keys in document-database style, combined with AND; `optViewSort` (optional): Stored sort fields with direction, e.g. {sortVal: 1}; `optLimit` (optional); `optIsVectorSearch` (optional); `optVectorSearchString` (optional); `optVectorSearchNumCandidates` (optional); `platformFormat` (optional): True returns the raw internal rows. Exceptional use only; `resultContentType` (optional); `optIsStatic` (optional); `optExcludeMicroApps` (optional).
   * @returns `microAppRows`.
   * @throws ApiError `notFound`, `forbidden`, `invalidRequest`
   * @see `POST /api/microappdata`, docs/endpoints.md#microappdata
   */
  microappdata: (request: RequestOf<"microappdata">, options?: CallOptions) => Promise<AnswerOf<"microappdata">>;
  /**
   * Reads one row. Changes nothing; repeated after failures.
   * @param request `rowID`.
   * @returns `currentRow` (optional).
   * @throws ApiError `forbidden`
   * @see `POST /api/microappdata/row`, docs/endpoints.md#microappdatarow
   */
  microappdataRow: (request: RequestOf<"microappdataRow">, options?: CallOptions) => Promise<AnswerOf<"microappdataRow">>;
  /**
   * Inserts one row. Labels that the table lacks are ignored by the platform. Repeated only when it is certain that nothing was made; else it fails as `outcomeUnknown`.
   * @param request `microAppID`; `rowData`; `embeddingRowID` (optional): The parent row, when the table is a sub-table; `userID` (optional): The row's creator; `ignoreActionRules` (optional): For controlled administration and migrations; `viewers` (optional): IDs of the users who may see the row; `teamViewers` (optional): IDs of the teams whose members may see the row.
   * @returns `rowID`.
   * @throws ApiError `notFound`, `forbidden`, `invalidRequest`
   * @see `POST /api/insertmicroapprow`, docs/endpoints.md#insertmicroapprow
   */
  insertmicroapprow: (request: RequestOf<"insertmicroapprow">, options?: CallOptions) => Promise<AnswerOf<"insertmicroapprow">>;
  /**
   * Inserts many rows. Labels that the table lacks are ignored by the platform. No row IDs are promised. Repeated only when it is certain that nothing was made; else it fails as `outcomeUnknown`.
   * @param request `microAppID`; `rows`: Values by label; an embeddingRowID of its own counts more than the request's; `embeddingRowID` (optional): The parent row, when the table is a sub-table; `userID` (optional): The row's creator; `ignoreActionRules` (optional): For controlled administration and migrations; `viewers` (optional): IDs of the users who may see the row; `teamViewers` (optional): IDs of the teams whose members may see the row.
   * @returns `inserted` (optional): Rows inserted; some platforms do not tell.
   * @throws ApiError `notFound`, `forbidden`, `invalidRequest`, `tooLarge`
   * @see `POST /api/insertmicroapprows`, docs/endpoints.md#insertmicroapprows
   */
  insertmicroapprows: (request: RequestOf<"insertmicroapprows">, options?: CallOptions) => Promise<AnswerOf<"insertmicroapprows">>;
  /**
   * Changes the named labels of one row; null clears a linked-table field. Repeated after failures: the end is the same.
   * @param request `rowID`; `rowData`; `microAppID` (optional); `embeddingRowID` (optional): The parent row, when the table is a sub-table; `userID` (optional): The row's creator; `ignoreActionRules` (optional): For controlled administration and migrations.
   * @throws ApiError `notFound`, `forbidden`, `invalidRequest`
   * @see `POST /api/updatemicroapprow`, docs/endpoints.md#updatemicroapprow
   */
  updatemicroapprow: (request: RequestOf<"updatemicroapprow">, options?: CallOptions) => Promise<AnswerOf<"updatemicroapprow">>;
  /**
   * Deletes one row. Repeated after failures: the end is the same.
   * @param request `rowID`.
   * @throws ApiError `notFound`, `forbidden`
   * @see `POST /api/removemicroapprow`, docs/endpoints.md#removemicroapprow
   */
  removemicroapprow: (request: RequestOf<"removemicroapprow">, options?: CallOptions) => Promise<AnswerOf<"removemicroapprow">>;
  /**
   * Lists the child records of a row's field. Changes nothing; repeated after failures.
   * @param request `appID`: ID of the parent row; `fieldID`.
   * @returns `childItems`.
   * @throws ApiError `notFound`, `forbidden`
   * @see `POST /api/microappchild/list`, docs/endpoints.md#microappchildlist
   */
  microappchildList: (request: RequestOf<"microappchildList">, options?: CallOptions) => Promise<AnswerOf<"microappchildList">>;
  /**
   * Creates a child record on a row's field. Repeated only when it is certain that nothing was made; else it fails as `outcomeUnknown`.
   * @param request `microAppResourceID`: Data table ID; `appID`: ID of the parent row; `fieldID`; `content`.
   * @returns `childID`.
   * @throws ApiError `notFound`, `forbidden`, `invalidRequest`
   * @see `POST /api/microappchild/create`, docs/endpoints.md#microappchildcreate
   */
  microappchildCreate: (request: RequestOf<"microappchildCreate">, options?: CallOptions) => Promise<AnswerOf<"microappchildCreate">>;
  /**
   * Reads one child record. Changes nothing; repeated after failures.
   * @param request `childID`.
   * @returns `childItem` (optional).
   * @throws ApiError `notFound`, `forbidden`
   * @see `POST /api/microappchild/read`, docs/endpoints.md#microappchildread
   */
  microappchildRead: (request: RequestOf<"microappchildRead">, options?: CallOptions) => Promise<AnswerOf<"microappchildRead">>;
  /**
   * Changes a child record's metadata. Repeated after failures: the end is the same.
   * @param request `childID`; `content`.
   * @throws ApiError `notFound`, `forbidden`, `invalidRequest`
   * @see `POST /api/microappchild/update`, docs/endpoints.md#microappchildupdate
   */
  microappchildUpdate: (request: RequestOf<"microappchildUpdate">, options?: CallOptions) => Promise<AnswerOf<"microappchildUpdate">>;
  /**
   * Deletes a child record. Repeated after failures: the end is the same.
   * @param request `childID`.
   * @throws ApiError `notFound`, `forbidden`
   * @see `POST /api/microappchild/delete`, docs/endpoints.md#microappchilddelete
   */
  microappchildDelete: (request: RequestOf<"microappchildDelete">, options?: CallOptions) => Promise<AnswerOf<"microappchildDelete">>;
  /**
   * Copies a stored file to another resource. Repeated only when it is certain that nothing was made; else it fails as `outcomeUnknown`.
   * @param request `sourceResourceID`; `destinationResourceID`; `fileKey`; `newFileKey` (optional).
   * @returns `signedUrl`.
   * @throws ApiError `notFound`, `forbidden`
   * @see `POST /api/microappchild/storecopy`, docs/endpoints.md#microappchildstorecopy
   */
  microappchildStorecopy: (request: RequestOf<"microappchildStorecopy">, options?: CallOptions) => Promise<AnswerOf<"microappchildStorecopy">>;
  /**
   * Has the platform download a file and store it. Repeated only when it is certain that nothing was made; else it fails as `outcomeUnknown`.
   * @param request `resourceID`; `fieldID`; `url`; `filename` (optional).
   * @returns `url`; `fileKey` (optional).
   * @throws ApiError `notFound`, `forbidden`, `invalidRequest`
   * @see `POST /api/microappchild/uploadFileToStore`, docs/endpoints.md#microappchilduploadfiletostore
   */
  microappchildUploadFileToStore: (request: RequestOf<"microappchildUploadFileToStore">, options?: CallOptions) => Promise<AnswerOf<"microappchildUploadFileToStore">>;
  /**
   * Notifies a user about an app: in the app, by push, or by a badge alone. Repeated only when it is certain that nothing was made; else it fails as `outcomeUnknown`.
   * @param request `appID`: App that the requesting user can edit; `email`: E-mail address of the recipient; `message` (optional): Without it, channel `push` sends only the badge; `badgeCount` (optional): Absolute number on the badge; `channel` (optional).
   * @returns `ok`; `appID`; `email`; `channel`; `hasMessage`; `badgeCount`; `notificationCount`; `pushCount`.
   * @throws ApiError `invalidRequest`, `forbidden`, `notFound`
   * @see `POST /api/sendnotification`, docs/endpoints.md#sendnotification
   */
  sendnotification: (request: RequestOf<"sendnotification">, options?: CallOptions) => Promise<AnswerOf<"sendnotification">>;
  /**
   * Starts the generation of an app from a text; the answer's link carries the app ID. Repeated only when it is certain that nothing was made; else it fails as `outcomeUnknown`.
   * @param request `userEmail`: Becomes the owner of the app; `appPrompt`: Text that describes the app; `attachments` (optional).
   * @returns `link`: {app_server}/workspace/apps/<app_id>.
   * @throws ApiError `forbidden`, `invalidRequest`
   * @see `POST /api/createappwithprompt`, docs/endpoints.md#createappwithprompt
   */
  createappwithprompt: (request: RequestOf<"createappwithprompt">, options?: CallOptions) => Promise<AnswerOf<"createappwithprompt">>;
  /**
   * Returns the progress of an app's generation. The words it uses are not documented. Changes nothing; repeated after failures.
   * @param request `appID`.
   * @returns `status`: The platform's own word; `message` (optional).
   * @throws ApiError `notFound`, `forbidden`
   * @see `POST /api/createappwithprompt/status`, docs/endpoints.md#createappwithpromptstatus
   */
  createappwithpromptStatus: (request: RequestOf<"createappwithpromptStatus">, options?: CallOptions) => Promise<AnswerOf<"createappwithpromptStatus">>;
  /**
   * Creates an organization. The caller may choose its ID. Repeated only when it is certain that nothing was made; else it fails as `outcomeUnknown`.
   * @param request `organizationInfo`; `adminID` (optional): User who becomes its administrator.
   * @returns `organizationID`.
   * @throws ApiError `notFound`, `conflict`, `forbidden`, `invalidRequest`
   * @see `POST /api/insertorganization`, docs/endpoints.md#insertorganization
   */
  insertorganization: (request: RequestOf<"insertorganization">, options?: CallOptions) => Promise<AnswerOf<"insertorganization">>;
  /**
   * Reads an organization. Changes nothing; repeated after failures.
   * @param request `organizationID`.
   * @returns `organization` (optional).
   * @throws ApiError `notFound`, `forbidden`
   * @see `POST /api/readorganization`, docs/endpoints.md#readorganization
   */
  readorganization: (request: RequestOf<"readorganization">, options?: CallOptions) => Promise<AnswerOf<"readorganization">>;
  /**
   * Changes an organization. Repeated after failures: the end is the same.
   * @param request `organizationID`; `organizationInfo`.
   * @throws ApiError `notFound`, `conflict`, `forbidden`, `invalidRequest`
   * @see `POST /api/updateorganization`, docs/endpoints.md#updateorganization
   */
  updateorganization: (request: RequestOf<"updateorganization">, options?: CallOptions) => Promise<AnswerOf<"updateorganization">>;
  /**
   * Deletes an organization that nothing depends on any more. Repeated after failures: the end is the same.
   * @param request `organizationID`.
   * @throws ApiError `notFound`, `conflict`, `forbidden`
   * @see `POST /api/deleteorganization`, docs/endpoints.md#deleteorganization
   */
  deleteorganization: (request: RequestOf<"deleteorganization">, options?: CallOptions) => Promise<AnswerOf<"deleteorganization">>;
  /**
   * Creates a team in an organization. The caller may choose its ID. Repeated only when it is certain that nothing was made; else it fails as `outcomeUnknown`.
   * @param request `teamInfo`; `adminID` (optional): User who becomes its administrator.
   * @returns `teamID`.
   * @throws ApiError `notFound`, `conflict`, `forbidden`, `invalidRequest`
   * @see `POST /api/insertteam`, docs/endpoints.md#insertteam
   */
  insertteam: (request: RequestOf<"insertteam">, options?: CallOptions) => Promise<AnswerOf<"insertteam">>;
  /**
   * Reads a team. Changes nothing; repeated after failures.
   * @param request `teamID`.
   * @returns `team` (optional).
   * @throws ApiError `notFound`, `forbidden`
   * @see `POST /api/readteam`, docs/endpoints.md#readteam
   */
  readteam: (request: RequestOf<"readteam">, options?: CallOptions) => Promise<AnswerOf<"readteam">>;
  /**
   * Changes a team. Repeated after failures: the end is the same.
   * @param request `teamID`; `teamInfo`.
   * @throws ApiError `notFound`, `conflict`, `forbidden`, `invalidRequest`
   * @see `POST /api/updateteam`, docs/endpoints.md#updateteam
   */
  updateteam: (request: RequestOf<"updateteam">, options?: CallOptions) => Promise<AnswerOf<"updateteam">>;
  /**
   * Deletes a team. Repeated after failures: the end is the same.
   * @param request `teamID`.
   * @throws ApiError `notFound`, `conflict`, `forbidden`
   * @see `POST /api/deleteteam`, docs/endpoints.md#deleteteam
   */
  deleteteam: (request: RequestOf<"deleteteam">, options?: CallOptions) => Promise<AnswerOf<"deleteteam">>;
  /**
   * Adds users to teams; unknown e-mail addresses become invited users. Roles are set with updateteammember. Repeated after failures: the end is the same.
   * @param request `teamIDs`; `emails` (optional); `userIDs` (optional); `targetRoute` (optional): Where the invitation leads; `targetInitialApp` (optional); `targetInitialScreen` (optional).
   * @throws ApiError `notFound`, `forbidden`, `invalidRequest`
   * @see `POST /api/insertteammembers`, docs/endpoints.md#insertteammembers
   */
  insertteammembers: (request: RequestOf<"insertteammembers">, options?: CallOptions) => Promise<AnswerOf<"insertteammembers">>;
  /**
   * Lists the members of teams. Changes nothing; repeated after failures.
   * @param request `teamIDs`.
   * @returns `teamMembers`.
   * @throws ApiError `notFound`, `forbidden`
   * @see `POST /api/teammembers`, docs/endpoints.md#teammembers
   */
  teammembers: (request: RequestOf<"teammembers">, options?: CallOptions) => Promise<AnswerOf<"teammembers">>;
  /**
   * Reads one member of a team. Changes nothing; repeated after failures.
   * @param request `teamID` (optional); `userID` (optional); `teamMemberID` (optional).
   * @returns `teamMember` (optional).
   * @throws ApiError `notFound`, `forbidden`
   * @see `POST /api/readteammember`, docs/endpoints.md#readteammember
   */
  readteammember: (request: RequestOf<"readteammember">, options?: CallOptions) => Promise<AnswerOf<"readteammember">>;
  /**
   * Changes a member's role, the only thing of a member that can change. Repeated after failures: the end is the same.
   * @param request `teamID` (optional); `userID` (optional); `teamMemberID` (optional); `role`.
   * @throws ApiError `notFound`, `forbidden`, `invalidRequest`
   * @see `POST /api/updateteammember`, docs/endpoints.md#updateteammember
   */
  updateteammember: (request: RequestOf<"updateteammember">, options?: CallOptions) => Promise<AnswerOf<"updateteammember">>;
  /**
   * Removes a member from a team. Repeated after failures: the end is the same.
   * @param request `teamID` (optional); `userID` (optional); `teamMemberID` (optional).
   * @throws ApiError `notFound`, `forbidden`
   * @see `POST /api/deleteteammember`, docs/endpoints.md#deleteteammember
   */
  deleteteammember: (request: RequestOf<"deleteteammember">, options?: CallOptions) => Promise<AnswerOf<"deleteteammember">>;
  /**
   * Makes a user a member of exactly the named teams. Repeated after failures: the end is the same.
   * @param request `teamIDs`; `email` (optional); `userID` (optional); `organizationID` (optional).
   * @throws ApiError `notFound`, `forbidden`, `invalidRequest`
   * @see `POST /api/enforceteammembership`, docs/endpoints.md#enforceteammembership
   */
  enforceteammembership: (request: RequestOf<"enforceteammembership">, options?: CallOptions) => Promise<AnswerOf<"enforceteammembership">>;
}
