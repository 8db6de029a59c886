DROP INDEX `responses_account`;--> statement-breakpoint
CREATE INDEX `responses_newest` ON `responses` (`account_id`,`created_at`,`id`);--> statement-breakpoint
DROP INDEX `usage_model`;