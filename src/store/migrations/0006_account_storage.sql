CREATE TABLE `account_storage` (
	`account_id` text PRIMARY KEY NOT NULL,
	`bytes` integer DEFAULT 0 NOT NULL,
	FOREIGN KEY (`account_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
ALTER TABLE `jobs` ADD `held_bytes` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
CREATE INDEX `threads_oldest` ON `threads` (`account_id`,`updated_at`);--> statement-breakpoint
UPDATE jobs SET held_bytes =
  (SELECT COALESCE(SUM(octet_length(url) + octet_length(body)), 0) FROM job_pages WHERE job_id = jobs.id)
  + (SELECT COALESCE(SUM(octet_length(url_key) + octet_length(url)), 0) FROM job_frontier WHERE job_id = jobs.id);--> statement-breakpoint
INSERT INTO account_storage (account_id, bytes)
SELECT account_id, SUM(size) FROM (
  SELECT account_id, octet_length(responses.input) + octet_length(responses.body) AS size FROM responses
  UNION ALL SELECT account_id, octet_length(threads.thread_id) + octet_length(threads.state) AS size FROM threads
  UNION ALL SELECT account_id, files.bytes AS size FROM files
  UNION ALL SELECT account_id, octet_length(jobs.input) + octet_length(jobs.progress) + COALESCE(octet_length(jobs.result), 0) + COALESCE(octet_length(jobs.error), 0) + jobs.held_bytes AS size FROM jobs
) GROUP BY account_id;--> statement-breakpoint
CREATE TRIGGER responses_stored AFTER INSERT ON responses BEGIN
  INSERT INTO account_storage (account_id, bytes) VALUES (NEW.account_id, octet_length(NEW.input) + octet_length(NEW.body))
  ON CONFLICT (account_id) DO UPDATE SET bytes = bytes + excluded.bytes;
END;--> statement-breakpoint
CREATE TRIGGER responses_resized AFTER UPDATE OF input, body ON responses BEGIN
  UPDATE account_storage SET bytes = bytes - (octet_length(OLD.input) + octet_length(OLD.body)) + (octet_length(NEW.input) + octet_length(NEW.body)) WHERE account_id = NEW.account_id;
END;--> statement-breakpoint
CREATE TRIGGER responses_removed AFTER DELETE ON responses BEGIN
  UPDATE account_storage SET bytes = bytes - (octet_length(OLD.input) + octet_length(OLD.body)) WHERE account_id = OLD.account_id;
END;--> statement-breakpoint
CREATE TRIGGER threads_stored AFTER INSERT ON threads BEGIN
  INSERT INTO account_storage (account_id, bytes) VALUES (NEW.account_id, octet_length(NEW.thread_id) + octet_length(NEW.state))
  ON CONFLICT (account_id) DO UPDATE SET bytes = bytes + excluded.bytes;
END;--> statement-breakpoint
CREATE TRIGGER threads_resized AFTER UPDATE OF state ON threads BEGIN
  UPDATE account_storage SET bytes = bytes - (octet_length(OLD.thread_id) + octet_length(OLD.state)) + (octet_length(NEW.thread_id) + octet_length(NEW.state)) WHERE account_id = NEW.account_id;
END;--> statement-breakpoint
CREATE TRIGGER threads_removed AFTER DELETE ON threads BEGIN
  UPDATE account_storage SET bytes = bytes - (octet_length(OLD.thread_id) + octet_length(OLD.state)) WHERE account_id = OLD.account_id;
END;--> statement-breakpoint
CREATE TRIGGER files_stored AFTER INSERT ON files BEGIN
  INSERT INTO account_storage (account_id, bytes) VALUES (NEW.account_id, NEW.bytes)
  ON CONFLICT (account_id) DO UPDATE SET bytes = bytes + excluded.bytes;
END;--> statement-breakpoint
CREATE TRIGGER files_resized AFTER UPDATE OF bytes ON files BEGIN
  UPDATE account_storage SET bytes = bytes - (OLD.bytes) + (NEW.bytes) WHERE account_id = NEW.account_id;
END;--> statement-breakpoint
CREATE TRIGGER files_removed AFTER DELETE ON files BEGIN
  UPDATE account_storage SET bytes = bytes - (OLD.bytes) WHERE account_id = OLD.account_id;
END;--> statement-breakpoint
CREATE TRIGGER jobs_stored AFTER INSERT ON jobs BEGIN
  INSERT INTO account_storage (account_id, bytes) VALUES (NEW.account_id, octet_length(NEW.input) + octet_length(NEW.progress) + COALESCE(octet_length(NEW.result), 0) + COALESCE(octet_length(NEW.error), 0) + NEW.held_bytes)
  ON CONFLICT (account_id) DO UPDATE SET bytes = bytes + excluded.bytes;
END;--> statement-breakpoint
CREATE TRIGGER jobs_resized AFTER UPDATE OF input, progress, result, error, held_bytes ON jobs BEGIN
  UPDATE account_storage SET bytes = bytes - (octet_length(OLD.input) + octet_length(OLD.progress) + COALESCE(octet_length(OLD.result), 0) + COALESCE(octet_length(OLD.error), 0) + OLD.held_bytes) + (octet_length(NEW.input) + octet_length(NEW.progress) + COALESCE(octet_length(NEW.result), 0) + COALESCE(octet_length(NEW.error), 0) + NEW.held_bytes) WHERE account_id = NEW.account_id;
END;--> statement-breakpoint
CREATE TRIGGER jobs_removed AFTER DELETE ON jobs BEGIN
  UPDATE account_storage SET bytes = bytes - (octet_length(OLD.input) + octet_length(OLD.progress) + COALESCE(octet_length(OLD.result), 0) + COALESCE(octet_length(OLD.error), 0) + OLD.held_bytes) WHERE account_id = OLD.account_id;
END;--> statement-breakpoint
CREATE TRIGGER job_pages_stored AFTER INSERT ON job_pages BEGIN
  UPDATE jobs SET held_bytes = held_bytes + octet_length(NEW.url) + octet_length(NEW.body) WHERE id = NEW.job_id;
END;
