package ledger

// This file checks the records of requests: each names an account or a merchant that exists, and
// what was made with a key has its record.

// checkRequest checks that what a record of a request names is in the table.
func (c *tableCheck) checkRequest(a *stored, add func(Divergence)) error {
	record, _, err := c.design.requests.FromAudit(&a.AuditItem)
	if err != nil {
		return err
	}
	d := named(&a.AuditItem)
	d.Got = "nothing"
	if record.AccountID != "" {
		state, err := c.look.account(c.ctx, record.AccountID)
		if err != nil || state.exists {
			return err
		}
		d.Kind, d.Want = AccountMissing, "account "+string(record.AccountID)
		add(d)
		return nil
	}
	exists, err := c.look.merchant(c.ctx, record.MerchantID)
	if err != nil || exists {
		return err
	}
	d.Kind, d.Want = MerchantMissing, "merchant "+string(record.MerchantID)
	add(d)
	return nil
}

// checkRecorded checks that the record of the request that made an account or a merchant is in the
// table and names it.
func (c *tableCheck) checkRecorded(a *stored, add func(Divergence)) error {
	var requestID, id string
	switch a.Entity() {
	case directoryEntity:
		item, _, err := c.design.directory.FromAudit(&a.AuditItem)
		if err != nil {
			return err
		}
		requestID, id = item.RequestID, string(item.AccountID)
	case merchantEntity:
		item, _, err := c.design.merchants.FromAudit(&a.AuditItem)
		if err != nil {
			return err
		}
		requestID, id = item.RequestID, string(item.ID)
	}
	if requestID == "" {
		return nil
	}
	record, err := c.look.request(c.ctx, requestID)
	if err != nil {
		return err
	}
	d := named(&a.AuditItem)
	d.Kind, d.Want, d.Got = RequestMissing, "request "+requestID+" of "+id, "nothing"
	if record != nil {
		made := string(record.AccountID) + string(record.MerchantID) // One of them is empty.
		if made == id {
			return nil
		}
		d.Got = "request of " + made
	}
	add(d)
	return nil
}
