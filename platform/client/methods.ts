// Made of platform/contract by `make docs`: change that, not this.
import type { AnswerOf, RequestOf } from "../contract/endpoints.ts";
import type { CallOptions } from "./http/call.ts";

/**
 * One method for each endpoint of the contract, by its name, as docs/endpoints.md has them. All of them fail with an
 * `ApiError`, whose `code` gives the reason.
 */
export interface Methods {
  /**
   * `POST /api/login`: Starts a session. Repeated after failures: the end is the same.
   * @param request `email`; `password`.
   * @returns `authToken`: Token for the header X-Auth-Token. Its lifetime is not documented; `userId`: The user's ID, for the header X-User-Id.
   * @throws ApiError `unauthorized`
   */
  login: (request: RequestOf<"login">, options?: CallOptions) => Promise<AnswerOf<"login">>;
  /**
   * `POST /api/logout`: Ends the session of the token. Repeated after failures: the end is the same.
   * @param request `authToken` (optional): Token for the header X-Auth-Token. Its lifetime is not documented; `userId` (optional): The user's ID, for the header X-User-Id.
   * @throws ApiError `unauthorized`
   */
  logout: (request: RequestOf<"logout">, options?: CallOptions) => Promise<AnswerOf<"logout">>;
  /**
   * `GET /api/userid`: Finds the user ID that belongs to an e-mail address. Works only where it is enabled. Changes nothing; repeated after failures.
   * @param request `email`.
   * @returns `userID`.
   * @throws ApiError `notFound`, `forbidden`
   */
  userid: (request: RequestOf<"userid">, options?: CallOptions) => Promise<AnswerOf<"userid">>;
  /**
   * `POST /api/microappdata`: Reads many rows of a data table. Changes nothing; repeated after failures.
   * @param request `microAppID`: Data table ID; `searchFilter` (optional): Paging and sorting. Send skip and limit together, with a stable sort; `optSearchFilters` (optional): Equality on fields, by field ID; `optViewFilters` (optional): Queries on stored row keys in document-database style, combined with AND; `optViewSort` (optional): Stored sort fields with direction, e.g. {sortVal: 1}; `optLimit` (optional); `optIsVectorSearch` (optional); `optVectorSearchString` (optional); `optVectorSearchNumCandidates` (optional); `platformFormat` (optional): True returns the raw internal rows. Exceptional use only; `resultContentType` (optional); `optIsStatic` (optional); `optExcludeMicroApps` (optional).
   * @returns `microAppRows`.
   * @throws ApiError `notFound`, `forbidden`, `invalidRequest`
   */
  microappdata: (request: RequestOf<"microappdata">, options?: CallOptions) => Promise<AnswerOf<"microappdata">>;
  /**
   * `POST /api/microappdata/row`: Reads one row. Changes nothing; repeated after failures.
   * @param request `rowID`.
   * @returns `currentRow` (optional).
   * @throws ApiError `forbidden`
   */
  microappdataRow: (request: RequestOf<"microappdataRow">, options?: CallOptions) => Promise<AnswerOf<"microappdataRow">>;
  /**
   * `POST /api/insertmicroapprow`: Inserts one row. Labels that the table lacks are ignored by the platform. Repeated only when it is certain that nothing was made; else it fails as `outcomeUnknown`.
   * @param request `microAppID`; `rowData`; `embeddingRowID` (optional): The parent row, when the table is a sub-table; `userID` (optional): The row's creator; `ignoreActionRules` (optional): For controlled administration and migrations; `viewers` (optional): IDs of the users who may see the row; `teamViewers` (optional): IDs of the teams whose members may see the row.
   * @returns `rowID`.
   * @throws ApiError `notFound`, `forbidden`, `invalidRequest`
   */
  insertmicroapprow: (request: RequestOf<"insertmicroapprow">, options?: CallOptions) => Promise<AnswerOf<"insertmicroapprow">>;
  /**
   * `POST /api/insertmicroapprows`: Inserts many rows. Labels that the table lacks are ignored by the platform. No row IDs are promised. Repeated only when it is certain that nothing was made; else it fails as `outcomeUnknown`.
   * @param request `microAppID`; `rows`: Values by label; an embeddingRowID of its own counts more than the request's; `embeddingRowID` (optional): The parent row, when the table is a sub-table; `userID` (optional): The row's creator; `ignoreActionRules` (optional): For controlled administration and migrations; `viewers` (optional): IDs of the users who may see the row; `teamViewers` (optional): IDs of the teams whose members may see the row.
   * @returns `inserted` (optional): Rows inserted; some platforms do not tell.
   * @throws ApiError `notFound`, `forbidden`, `invalidRequest`, `tooLarge`
   */
  insertmicroapprows: (request: RequestOf<"insertmicroapprows">, options?: CallOptions) => Promise<AnswerOf<"insertmicroapprows">>;
  /**
   * `POST /api/updatemicroapprow`: Changes the named labels of one row; null clears a linked-table field. Repeated after failures: the end is the same.
   * @param request `rowID`; `rowData`; `microAppID` (optional); `embeddingRowID` (optional): The parent row, when the table is a sub-table; `userID` (optional): The row's creator; `ignoreActionRules` (optional): For controlled administration and migrations.
   * @throws ApiError `notFound`, `forbidden`, `invalidRequest`
   */
  updatemicroapprow: (request: RequestOf<"updatemicroapprow">, options?: CallOptions) => Promise<AnswerOf<"updatemicroapprow">>;
  /**
   * `POST /api/removemicroapprow`: Deletes one row. Repeated after failures: the end is the same.
   * @param request `rowID`.
   * @throws ApiError `notFound`, `forbidden`
   */
  removemicroapprow: (request: RequestOf<"removemicroapprow">, options?: CallOptions) => Promise<AnswerOf<"removemicroapprow">>;
  /**
   * `POST /api/microappchild/list`: Lists the child records of a row's field. Changes nothing; repeated after failures.
   * @param request `appID`: ID of the parent row; `fieldID`.
   * @returns `childItems`.
   * @throws ApiError `notFound`, `forbidden`
   */
  microappchildList: (request: RequestOf<"microappchildList">, options?: CallOptions) => Promise<AnswerOf<"microappchildList">>;
  /**
   * `POST /api/microappchild/create`: Creates a child record on a row's field. Repeated only when it is certain that nothing was made; else it fails as `outcomeUnknown`.
   * @param request `microAppResourceID`: Data table ID; `appID`: ID of the parent row; `fieldID`; `content`.
   * @returns `childID`.
   * @throws ApiError `notFound`, `forbidden`, `invalidRequest`
   */
  microappchildCreate: (request: RequestOf<"microappchildCreate">, options?: CallOptions) => Promise<AnswerOf<"microappchildCreate">>;
  /**
   * `POST /api/microappchild/read`: Reads one child record. Changes nothing; repeated after failures.
   * @param request `childID`.
   * @returns `childItem` (optional).
   * @throws ApiError `notFound`, `forbidden`
   */
  microappchildRead: (request: RequestOf<"microappchildRead">, options?: CallOptions) => Promise<AnswerOf<"microappchildRead">>;
  /**
   * `POST /api/microappchild/update`: Changes a child record's metadata. Repeated after failures: the end is the same.
   * @param request `childID`; `content`.
   * @throws ApiError `notFound`, `forbidden`, `invalidRequest`
   */
  microappchildUpdate: (request: RequestOf<"microappchildUpdate">, options?: CallOptions) => Promise<AnswerOf<"microappchildUpdate">>;
  /**
   * `POST /api/microappchild/delete`: Deletes a child record. Repeated after failures: the end is the same.
   * @param request `childID`.
   * @throws ApiError `notFound`, `forbidden`
   */
  microappchildDelete: (request: RequestOf<"microappchildDelete">, options?: CallOptions) => Promise<AnswerOf<"microappchildDelete">>;
  /**
   * `POST /api/microappchild/storecopy`: Copies a stored file to another resource. Repeated only when it is certain that nothing was made; else it fails as `outcomeUnknown`.
   * @param request `sourceResourceID`; `destinationResourceID`; `fileKey`; `newFileKey` (optional).
   * @returns `signedUrl`.
   * @throws ApiError `notFound`, `forbidden`
   */
  microappchildStorecopy: (request: RequestOf<"microappchildStorecopy">, options?: CallOptions) => Promise<AnswerOf<"microappchildStorecopy">>;
  /**
   * `POST /api/microappchild/uploadFileToStore`: Has the platform download a file and store it. Repeated only when it is certain that nothing was made; else it fails as `outcomeUnknown`.
   * @param request `resourceID`; `fieldID`; `url`; `filename` (optional).
   * @returns `url`; `fileKey` (optional).
   * @throws ApiError `notFound`, `forbidden`, `invalidRequest`
   */
  microappchildUploadFileToStore: (request: RequestOf<"microappchildUploadFileToStore">, options?: CallOptions) => Promise<AnswerOf<"microappchildUploadFileToStore">>;
  /**
   * `POST /api/sendnotification`: Notifies a user about an app: in the app, by push, or by a badge alone. Repeated only when it is certain that nothing was made; else it fails as `outcomeUnknown`.
   * @param request `appID`: App that the requesting user can edit; `email`: E-mail address of the recipient; `message` (optional): Without it, channel `push` sends only the badge; `badgeCount` (optional): Absolute number on the badge; `channel` (optional).
   * @returns `ok`; `appID`; `email`; `channel`; `hasMessage`; `badgeCount`; `notificationCount`; `pushCount`.
   * @throws ApiError `invalidRequest`, `forbidden`, `notFound`
   */
  sendnotification: (request: RequestOf<"sendnotification">, options?: CallOptions) => Promise<AnswerOf<"sendnotification">>;
  /**
   * `POST /api/createappwithprompt`: Starts the generation of an app from a text; the answer's link carries the app ID. Repeated only when it is certain that nothing was made; else it fails as `outcomeUnknown`.
   * @param request `userEmail`: Becomes the owner of the app; `appPrompt`: Text that describes the app; `attachments` (optional).
   * @returns `link`: {app_server}/workspace/apps/<app_id>.
   * @throws ApiError `forbidden`, `invalidRequest`
   */
  createappwithprompt: (request: RequestOf<"createappwithprompt">, options?: CallOptions) => Promise<AnswerOf<"createappwithprompt">>;
  /**
   * `POST /api/createappwithprompt/status`: Returns the progress of an app's generation. The words it uses are not documented. Changes nothing; repeated after failures.
   * @param request `appID`.
   * @returns `status`: The platform's own word; `message` (optional).
   * @throws ApiError `notFound`, `forbidden`
   */
  createappwithpromptStatus: (request: RequestOf<"createappwithpromptStatus">, options?: CallOptions) => Promise<AnswerOf<"createappwithpromptStatus">>;
  /**
   * `POST /api/insertorganization`: Creates an organization. The caller may choose its ID. Repeated only when it is certain that nothing was made; else it fails as `outcomeUnknown`.
   * @param request `organizationInfo`; `adminID` (optional): User who becomes its administrator.
   * @returns `organizationID`.
   * @throws ApiError `notFound`, `conflict`, `forbidden`, `invalidRequest`
   */
  insertorganization: (request: RequestOf<"insertorganization">, options?: CallOptions) => Promise<AnswerOf<"insertorganization">>;
  /**
   * `POST /api/readorganization`: Reads an organization. Changes nothing; repeated after failures.
   * @param request `organizationID`.
   * @returns `organization` (optional).
   * @throws ApiError `notFound`, `forbidden`
   */
  readorganization: (request: RequestOf<"readorganization">, options?: CallOptions) => Promise<AnswerOf<"readorganization">>;
  /**
   * `POST /api/updateorganization`: Changes an organization. Repeated after failures: the end is the same.
   * @param request `organizationID`; `organizationInfo`.
   * @throws ApiError `notFound`, `conflict`, `forbidden`, `invalidRequest`
   */
  updateorganization: (request: RequestOf<"updateorganization">, options?: CallOptions) => Promise<AnswerOf<"updateorganization">>;
  /**
   * `POST /api/deleteorganization`: Deletes an organization that nothing depends on any more. Repeated after failures: the end is the same.
   * @param request `organizationID`.
   * @throws ApiError `notFound`, `conflict`, `forbidden`
   */
  deleteorganization: (request: RequestOf<"deleteorganization">, options?: CallOptions) => Promise<AnswerOf<"deleteorganization">>;
  /**
   * `POST /api/insertteam`: Creates a team in an organization. The caller may choose its ID. Repeated only when it is certain that nothing was made; else it fails as `outcomeUnknown`.
   * @param request `teamInfo`; `adminID` (optional): User who becomes its administrator.
   * @returns `teamID`.
   * @throws ApiError `notFound`, `conflict`, `forbidden`, `invalidRequest`
   */
  insertteam: (request: RequestOf<"insertteam">, options?: CallOptions) => Promise<AnswerOf<"insertteam">>;
  /**
   * `POST /api/readteam`: Reads a team. Changes nothing; repeated after failures.
   * @param request `teamID`.
   * @returns `team` (optional).
   * @throws ApiError `notFound`, `forbidden`
   */
  readteam: (request: RequestOf<"readteam">, options?: CallOptions) => Promise<AnswerOf<"readteam">>;
  /**
   * `POST /api/updateteam`: Changes a team. Repeated after failures: the end is the same.
   * @param request `teamID`; `teamInfo`.
   * @throws ApiError `notFound`, `conflict`, `forbidden`, `invalidRequest`
   */
  updateteam: (request: RequestOf<"updateteam">, options?: CallOptions) => Promise<AnswerOf<"updateteam">>;
  /**
   * `POST /api/deleteteam`: Deletes a team. Repeated after failures: the end is the same.
   * @param request `teamID`.
   * @throws ApiError `notFound`, `conflict`, `forbidden`
   */
  deleteteam: (request: RequestOf<"deleteteam">, options?: CallOptions) => Promise<AnswerOf<"deleteteam">>;
  /**
   * `POST /api/insertteammembers`: Adds users to teams; unknown e-mail addresses become invited users. Roles are set with updateteammember. Repeated after failures: the end is the same.
   * @param request `teamIDs`; `emails` (optional); `userIDs` (optional); `targetRoute` (optional): Where the invitation leads; `targetInitialApp` (optional); `targetInitialScreen` (optional).
   * @throws ApiError `notFound`, `forbidden`, `invalidRequest`
   */
  insertteammembers: (request: RequestOf<"insertteammembers">, options?: CallOptions) => Promise<AnswerOf<"insertteammembers">>;
  /**
   * `POST /api/teammembers`: Lists the members of teams. Changes nothing; repeated after failures.
   * @param request `teamIDs`.
   * @returns `teamMembers`.
   * @throws ApiError `notFound`, `forbidden`
   */
  teammembers: (request: RequestOf<"teammembers">, options?: CallOptions) => Promise<AnswerOf<"teammembers">>;
  /**
   * `POST /api/readteammember`: Reads one member of a team. Changes nothing; repeated after failures.
   * @param request `teamID` (optional); `userID` (optional); `teamMemberID` (optional).
   * @returns `teamMember` (optional).
   * @throws ApiError `notFound`, `forbidden`
   */
  readteammember: (request: RequestOf<"readteammember">, options?: CallOptions) => Promise<AnswerOf<"readteammember">>;
  /**
   * `POST /api/updateteammember`: Changes a member's role, the only thing of a member that can change. Repeated after failures: the end is the same.
   * @param request `teamID` (optional); `userID` (optional); `teamMemberID` (optional); `role`.
   * @throws ApiError `notFound`, `forbidden`, `invalidRequest`
   */
  updateteammember: (request: RequestOf<"updateteammember">, options?: CallOptions) => Promise<AnswerOf<"updateteammember">>;
  /**
   * `POST /api/deleteteammember`: Removes a member from a team. Repeated after failures: the end is the same.
   * @param request `teamID` (optional); `userID` (optional); `teamMemberID` (optional).
   * @throws ApiError `notFound`, `forbidden`
   */
  deleteteammember: (request: RequestOf<"deleteteammember">, options?: CallOptions) => Promise<AnswerOf<"deleteteammember">>;
  /**
   * `POST /api/enforceteammembership`: Makes a user a member of exactly the named teams. Repeated after failures: the end is the same.
   * @param request `teamIDs`; `email` (optional); `userID` (optional); `organizationID` (optional).
   * @throws ApiError `notFound`, `forbidden`, `invalidRequest`
   */
  enforceteammembership: (request: RequestOf<"enforceteammembership">, options?: CallOptions) => Promise<AnswerOf<"enforceteammembership">>;
}
